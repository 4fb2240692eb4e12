#include "foxhunt/train/data_lock.h"

#include <fmt/format.h>

#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::train {

std::vector<std::string> require_unchanged(const std::vector<DataFile>& files) {
  std::vector<std::string> paths;
  for (const DataFile& file : files) {
    if (!std::filesystem::exists(file.path)) {
      throw DataError(fmt::format(
          "{}: the run was trained on this file, and it is gone; name its new place with --data",
          file.path.string()));
    }
    if (sha256_of_file(file.path) != file.sha256) {
      throw DataError(
          fmt::format("{}: is not what the run was trained on (SHA-256 differs from data.lock)",
                      file.path.string()));
    }
    paths.push_back(file.path.string());
  }
  return paths;
}

std::vector<DataFile> require_locked(const DataConfig& config, std::vector<DataFile> files) {
  if (config.lock.empty()) return files;
  return doctor::require_locked(std::move(files), parse_data_lock(read_file(config.lock)),
                                config.lock, config.accept_errors);
}

}  // namespace foxhunt::train
