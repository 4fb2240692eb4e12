#include "foxhunt/train/run_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/time.h"
#include "foxhunt/train/temporary_name.h"

namespace foxhunt::train {
namespace fs = std::filesystem;

namespace {

constexpr const char* kConfig = "config.resolved.toml";
/// The former kConfig while --overwrite removes a run: all of the folder may go.
constexpr const char* kOverwritten = ".overwritten.tmp";

bool is_empty_file(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code) && fs::file_size(path, code) == 0;
}

/// What train() leaves when it is killed before config.resolved.toml is there: nothing of it is
/// worth keeping, and nobody else makes files of these names and sizes.
bool is_remains(const fs::path& path) {
  const std::string name = path.filename().string();
  std::error_code code;
  if (name == ".lock" || name == "config.toml" || name == "env.json" || name == "log.txt" ||
      name == "leakproof.json" || name == "data.lock" || name == "coverage.json")
    return true;
  if (name == "metrics.jsonl") return is_empty_file(path);
  if (name == "checkpoints") return fs::is_empty(path, code);
  return is_temporary(path);
}

/// Remains count only where the lock shows that they are those of a run.
bool is_used(const fs::path& dir) {
  std::error_code none;
  if (fs::exists(dir / kOverwritten, none)) return false;
  const bool may_be_remains = fs::exists(dir / ".lock", none);
  for (const auto& entry : fs::directory_iterator(dir, none)) {
    if (!may_be_remains || !is_remains(entry.path())) return true;
  }
  return false;
}

/// " (process 4711)", where the lock's holder wrote it down.
std::string holder_of(int lock) {
  char text[32] = {};
  const ssize_t got = ::pread(lock, text, sizeof text - 1, 0);
  const std::string pid(text, got > 0 ? std::find(text, text + got, '\n') : text);
  return pid.empty() ? "" : fmt::format(" (process {})", pid);
}

[[noreturn]] void fail(const fs::path& path, const char* what) {
  throw IoError(fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

}  // namespace

void RunDir::require_free(const fs::path& dir, bool overwrite) {
  std::error_code code;
  if (fs::exists(dir, code) && !fs::is_directory(dir)) {
    throw ConfigError(fmt::format("{}: is a file, not a folder", dir.string()));
  }
  const bool is_run = fs::exists(dir / kConfig);
  if (is_used(dir) && !(is_run && overwrite)) {
    throw ConfigError(fmt::format("{}: {}; choose another --out{}", dir.string(),
                                  is_run ? "already holds a run" : "is not empty and holds no run",
                                  is_run ? ", add --overwrite, or go on with foxhunt resume" : ""));
  }
}

void RunDir::lock() {
  const fs::path path = file(".lock");
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) fail(path_, "cannot be written");
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    throw ConfigError(fmt::format("{}: another process is training into this folder{}",
                                  path_.string(), holder_of(lock_)));
  }
  // For people only: what counts is the lock, which dies with the process.
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock_, 0) != 0 || ::pwrite(lock_, pid.data(), pid.size(), 0) < 0)
    fail(path, "cannot be written");
}

void RunDir::open_metrics() {
  const fs::path path = file("metrics.jsonl");
  metrics_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (metrics_ < 0) fail(path, "cannot be written");
}

void RunDir::clear() {
  // First what makes it a run: a kill in between leaves remains, never half a run.
  if (fs::exists(file(kConfig))) fs::rename(file(kConfig), file(kOverwritten));
  for (const auto& entry : fs::directory_iterator(path_)) {
    const fs::path name = entry.path().filename();
    if (name != ".lock" && name != kOverwritten) fs::remove_all(entry.path());
  }
  fs::remove(file(kOverwritten));
}

RunDir RunDir::create(const fs::path& dir, bool overwrite) {
  require_free(dir, overwrite);
  make_folder(dir);
  RunDir run(dir);
  run.lock();
  require_free(dir, overwrite);  // whoever had the lock until now may have left a run
  run.clear();
  make_folder(dir / "checkpoints");
  run.open_metrics();
  return run;
}

RunDir RunDir::create_below(const fs::path& parent, std::string_view name) {
  std::string stamp = to_string(std::chrono::floor<std::chrono::seconds>(now()));
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  const std::string base = fmt::format("{}-{}", stamp, name);
  make_folder(parent);
  for (int i = 1;; ++i) {
    const fs::path dir = parent / (i == 1 ? base : fmt::format("{}-{}", base, i));
    if (::mkdir(dir.c_str(), 0755) == 0) return create(dir, /*overwrite=*/false);
    if (errno != EEXIST) fail(dir, "cannot be created");
  }
}

RunDir RunDir::reopen(const fs::path& dir) {
  if (!fs::exists(dir / kConfig) && fs::exists(dir / ".lock") && !is_used(dir)) {
    throw DataError(fmt::format(
        "{}: the run was cut off before it began; nothing was lost, start it again with "
        "foxhunt train --out {}",
        dir.string(), dir.string()));
  }
  RunDir run = open(dir);
  run.lock();
  make_folder(dir / "checkpoints");
  run.open_metrics();
  return run;
}

RunDir RunDir::open(const fs::path& dir) {
  if (!fs::exists(dir / kConfig)) {
    throw DataError(
        fmt::format("{}: is no run folder (it has no config.resolved.toml)", dir.string()));
  }
  return RunDir(dir);
}

RunDir::RunDir(RunDir&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      metrics_(std::exchange(other.metrics_, -1)) {}

RunDir::~RunDir() {
  if (metrics_ >= 0) ::close(metrics_);
  if (lock_ >= 0) ::close(lock_);
}

void RunDir::append_metrics(const std::string& json_line) {
  const std::string line = json_line + "\n";
  const ssize_t written = ::write(metrics_, line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) {
    throw IoError(fmt::format("{}: cannot be written: {}", file("metrics.jsonl").string(),
                              written < 0 ? std::strerror(errno) : "disk full"));
  }
}

std::int64_t RunDir::sync_metrics() {
  if (::fsync(metrics_) != 0) fail(file("metrics.jsonl"), "cannot be synced");
  return static_cast<std::int64_t>(fs::file_size(file("metrics.jsonl")));
}

bool RunDir::cut_metrics(std::int64_t bytes) {
  const fs::path path = file("metrics.jsonl");
  if (static_cast<std::int64_t>(fs::file_size(path)) < bytes) return false;
  if (::ftruncate(metrics_, bytes) != 0 || ::fsync(metrics_) != 0) fail(path, "cannot be cut");
  return true;
}

}  // namespace foxhunt::train
