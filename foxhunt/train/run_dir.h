#pragma once
// The folder of one run: everything that is needed to say later what was trained, on what, and how
// it went.
//
//   config.toml            the file that was given            config.resolved.toml  every key, with
//   its hash on top env.json               binary, git revision, CPU, LibTorch, command line, seed
//   data.lock              SHA-256, size and range of every data file
//   metrics.jsonl          one line an epoch (and a step, where asked)
//   log.txt                what the terminal showed, and more
//   checkpoints/step-…/    best -> …   last -> …

#include <filesystem>
#include <string>
#include <string_view>

namespace foxhunt::train {

class RunDir {
 public:
  /// Creates `dir`, which must be absent or empty; with `overwrite` an earlier run there
  /// (recognised by its config.resolved.toml) is removed first. Takes the folder's lock until the
  /// object dies. Errors  ConfigError when there is a run or anything else; IoError when it cannot
  /// be written or locked.
  static RunDir create(const std::filesystem::path& dir, bool overwrite);
  /// Errors  ConfigError unless create() could take `dir`: for commands that work long before they
  /// write.
  static void require_free(const std::filesystem::path& dir, bool overwrite);
  /// Opens a run to read it. Errors  DataError when `dir` is no run folder.
  static RunDir open(const std::filesystem::path& dir);

  RunDir(RunDir&& other) noexcept;
  RunDir& operator=(RunDir&&) = delete;
  ~RunDir();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(std::string_view name) const { return path_ / name; }

  /// Appends one JSON text as a line and flushes it to the operating system. Errors  IoError.
  void append_metrics(const std::string& json_line);

 private:
  explicit RunDir(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  int lock_ = -1;
  int metrics_ = -1;
};

/// runs/20261130T024600Z-NAME, made unique by a number where needed.
std::filesystem::path default_run_path(std::string_view name);

}  // namespace foxhunt::train
