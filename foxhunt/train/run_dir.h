#pragma once
// The folder of one run: everything that is needed to say later what was trained, on what, and how
// it went.
//
//   config.toml            the file that was given
//   config.resolved.toml   every key, with its hash on top
//   env.json               binary, git revision, CPU, LibTorch, command line, seed
//   leakproof.json         that nothing sees the future (docs/proofs.md); absent: unproven
//   data.lock              SHA-256, size and range of every data file
//   coverage.json          rows by part and trading day, gaps
//   metrics.jsonl          one line an epoch (and a step, where asked)
//   tb/                    the same for TensorBoard      report.html  the page of all this
//   log.txt                what the terminal showed, and more
//   checkpoints/step-…/    best -> …   last -> …
//   resumes.jsonl          one line a resume
//   result.json            how it ended; absent until then

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace foxhunt::train {

class RunDir {
 public:
  /// Creates `dir`, which must be absent or empty (what a run leaves that was killed before it
  /// began counts as empty); with `overwrite` an earlier run there (recognised by its
  /// config.resolved.toml) is removed first. Takes the folder's lock until the object dies.
  /// Errors  ConfigError when there is a run or anything else, or another process has the lock;
  /// IoError when it cannot be written.
  static RunDir create(const std::filesystem::path& dir, bool overwrite);
  /// A new folder PARENT/20261130T024600Z-NAME, with a number behind it where another process was
  /// faster. Errors  IoError.
  static RunDir create_below(const std::filesystem::path& parent, std::string_view name);
  /// Errors  ConfigError unless create() could take `dir`: for commands that work long before they
  /// write.
  static void require_free(const std::filesystem::path& dir, bool overwrite);
  /// Opens a run to go on writing it, and takes its lock. Errors  DataError when `dir` is no run
  /// folder, or was cut off before it began; ConfigError when another process has the lock;
  /// IoError.
  static RunDir reopen(const std::filesystem::path& dir);
  /// A run that another process of the same training writes: nothing is read, locked or written.
  static RunDir elsewhere(const std::filesystem::path& dir) { return RunDir(dir); }
  /// Opens a run to read it. Errors  DataError when `dir` is no run folder.
  static RunDir open(const std::filesystem::path& dir);

  RunDir(RunDir&& other) noexcept;
  RunDir& operator=(RunDir&&) = delete;
  ~RunDir();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(std::string_view name) const { return path_ / name; }

  /// Appends one JSON text as a line and flushes it to the operating system. Errors  IoError.
  void append_metrics(const std::string& json_line);
  /// Length of metrics.jsonl in bytes, after everything appended so far is on the disk. Errors
  /// IoError.
  std::int64_t sync_metrics();
  /// Cuts metrics.jsonl to its first `bytes` bytes; false when it is shorter. Errors  IoError.
  bool cut_metrics(std::int64_t bytes);

 private:
  explicit RunDir(std::filesystem::path path) : path_(std::move(path)) {}
  void lock();
  void clear();
  void open_metrics();
  std::filesystem::path path_;
  int lock_ = -1;
  int metrics_ = -1;
};

}  // namespace foxhunt::train
