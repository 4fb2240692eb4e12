#include "foxhunt/train/data_lock.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"

namespace foxhunt::train {

std::string data_lock_json(const std::vector<DataFile>& files) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const DataFile& file : files) {
    out.push_back({{"path", file.path.string()},
                   {"sha256", file.sha256},
                   {"bytes", file.bytes},
                   {"bars", file.bars},
                   {"first", to_string(file.first)},
                   {"last", to_string(file.last)}});
  }
  return out.dump(2) + "\n";
}

std::vector<DataFile> parse_data_lock(const std::string& text) {
  std::vector<DataFile> files;
  try {
    const auto time = [](const std::string& t) { return t == "null" ? kNullTime : parse_time(t); };
    for (const auto& entry : nlohmann::json::parse(text)) {
      files.push_back({.path = entry.at("path").get<std::string>(),
                       .sha256 = entry.at("sha256"),
                       .bytes = entry.at("bytes"),
                       .bars = entry.at("bars"),
                       .first = time(entry.at("first")),
                       .last = time(entry.at("last"))});
    }
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(fmt::format("data.lock: {}", error.what()));
  }
  return files;
}

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

}  // namespace foxhunt::train
