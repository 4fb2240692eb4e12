#pragma once
// What a run was trained on: data.lock of its folder.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "foxhunt/base/time.h"

namespace foxhunt::train {

/// A data file as a run saw it.
struct DataFile {
  std::filesystem::path path;  ///< absolute
  std::string sha256{};
  std::int64_t bytes = 0;
  std::int64_t bars = 0;
  UnixNanos first = kNullTime;  ///< index time of the first and the last bar
  UnixNanos last = kNullTime;
};

std::string data_lock_json(const std::vector<DataFile>& files);
/// Errors  FormatError.
std::vector<DataFile> parse_data_lock(const std::string& text);
/// The paths, after each file was found with the same SHA-256. Errors  DataError naming the file
/// that is gone or changed.
std::vector<std::string> require_unchanged(const std::vector<DataFile>& files);

}  // namespace foxhunt::train
