#pragma once
// What a run was trained on: data.lock of its folder, in the format of doctor/data_lock.h.

#include <string>
#include <vector>

#include "foxhunt/doctor/data_lock.h"

namespace foxhunt::train {

struct DataConfig;

using doctor::data_lock_json;
using doctor::DataFile;
using doctor::parse_data_lock;

/// The paths, after each file was found with the same SHA-256. Errors  DataError naming the file
/// that is gone or changed.
std::vector<std::string> require_unchanged(const std::vector<DataFile>& files);

/// `files` with what the lock of the configuration says of them; as they are where it names none.
/// Errors  IoError, FormatError: no such lock; DataError as doctor::require_locked().
std::vector<DataFile> require_locked(const DataConfig& config, std::vector<DataFile> files);

}  // namespace foxhunt::train
