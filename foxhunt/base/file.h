#pragma once
// Whole files, read and written so that a reader never sees half of one.

#include <filesystem>
#include <string>
#include <string_view>

namespace foxhunt {

/// Errors  IoError naming the file and the reason of the operating system.
std::string read_file(const std::filesystem::path& path);

/// Writes to a temporary name beside `path`, syncs, renames, syncs the folder: after a crash the
/// file holds the old bytes or the new ones. Errors  IoError; the temporary file is removed and an
/// earlier `path` is as it was.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

/// Makes `path` durable: fsync of a file or a folder.
void sync_path(const std::filesystem::path& path);

/// Makes the symbolic link `link` point to the relative `target`, replacing an old one in one step.
void replace_symlink(const std::filesystem::path& link, const std::filesystem::path& target);

/// Creates the folder and its parents. Errors  IoError with the reason.
void make_folder(const std::filesystem::path& path);

}  // namespace foxhunt
