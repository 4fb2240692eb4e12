#include "foxhunt/experiments/experiment_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/time.h"

namespace foxhunt::experiments {
namespace fs = std::filesystem;

ExperimentFolder::ExperimentFolder(fs::path path, std::string state_file, bool overwrite)
    : path_(std::move(path)), state_file_(std::move(state_file)) {
  if (fs::exists(path_) && !fs::is_directory(path_))
    throw ConfigError(fmt::format("{}: is a file, not a folder", path_.string()));
  const bool used = fs::exists(path_) && fs::directory_iterator(path_) != fs::directory_iterator();
  // Only the lock: a process that died before it wrote anything.
  const bool ours = begun() || fs::exists(path_ / ".experiment");
  if (used && !ours) {
    throw ConfigError(fmt::format("{}: is not empty and holds no {}; choose another --out",
                                  path_.string(), state_file_));
  }
  make_folder(path_);
  lock_ = ::open((path_ / ".experiment").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0)
    throw IoError(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0)
    throw ConfigError(fmt::format("{}: another process works in this folder", path_.string()));
  if (!overwrite) return;
  for (const auto& entry : fs::directory_iterator(path_)) {
    if (entry.path().filename() != ".experiment") fs::remove_all(entry.path());
  }
}

ExperimentFolder::~ExperimentFolder() {
  if (lock_ >= 0) ::close(lock_);
}

fs::path default_folder(const std::string& name, const std::string& what) {
  std::string stamp = to_string(std::chrono::floor<std::chrono::seconds>(now()));
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  const fs::path base = fs::path("runs") / fmt::format("{}-{}-{}", stamp, name, what);
  fs::path path = base;
  for (int i = 2; fs::exists(path); ++i) path = fmt::format("{}-{}", base.string(), i);
  return path;
}

}  // namespace foxhunt::experiments
