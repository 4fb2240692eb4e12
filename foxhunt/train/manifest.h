#pragma once
// DONE of a checkpoint folder: its files with size and SHA-256, and a hash over that list, so that
// the list itself cannot be cut or changed unnoticed.

#include <filesystem>
#include <string>

namespace foxhunt::train {

inline constexpr const char* kManifestName = "DONE";

/// DONE for the files of `folder` as they are now. Cost  reads every file. Errors  IoError.
std::string manifest_of(const std::filesystem::path& folder);

/// Why the files of `folder` are not what its DONE says, naming the first file that differs; ""
/// when all are whole. Files that DONE does not name are none of its business. Cost  reads every
/// file.
std::string damage_of(const std::filesystem::path& folder);

}  // namespace foxhunt::train
