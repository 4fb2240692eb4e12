#pragma once
// The parent folder of many runs: one process at a time, one configuration.

#include <filesystem>
#include <string>

namespace foxhunt::experiments {

class ExperimentFolder {
 public:
  /// Creates `path` or opens what is there: a folder with `state_file`. Takes its lock until the
  /// object dies. With `overwrite` an earlier experiment goes.
  /// Errors  ConfigError: it holds something else, or another process works in it; IoError.
  ExperimentFolder(std::filesystem::path path, std::string state_file, bool overwrite);
  ~ExperimentFolder();
  ExperimentFolder(const ExperimentFolder&) = delete;
  ExperimentFolder& operator=(const ExperimentFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const std::string& name) const { return path_ / name; }
  std::filesystem::path state() const { return path_ / state_file_; }
  /// Whether an earlier process left a state.
  bool begun() const { return std::filesystem::exists(state()); }

 private:
  std::filesystem::path path_;
  std::string state_file_;
  int lock_ = -1;
};

/// runs/20261130T024600Z-NAME-WHAT
std::filesystem::path default_folder(const std::string& name, const std::string& what);

}  // namespace foxhunt::experiments
