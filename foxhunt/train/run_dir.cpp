#include "foxhunt/train/run_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/time.h"

namespace foxhunt::train {
namespace fs = std::filesystem;

namespace {

bool is_used(const fs::path& dir) {
  return fs::exists(dir) && fs::directory_iterator(dir) != fs::directory_iterator();
}

}  // namespace

void RunDir::require_free(const fs::path& dir, bool overwrite) {
  std::error_code code;
  if (fs::exists(dir, code) && !fs::is_directory(dir)) {
    throw ConfigError(fmt::format("{}: is a file, not a folder", dir.string()));
  }
  const bool is_run = fs::exists(dir / "config.resolved.toml");
  if (is_used(dir) && !(is_run && overwrite)) {
    throw ConfigError(fmt::format("{}: {}; choose another --out{}", dir.string(),
                                  is_run ? "already holds a run" : "is not empty and holds no run",
                                  is_run ? " or add --overwrite" : ""));
  }
}

RunDir RunDir::create(const fs::path& dir, bool overwrite) {
  require_free(dir, overwrite);
  const bool used = is_used(dir);
  make_folder(dir);
  RunDir run(dir);
  run.lock_ = ::open((dir / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (run.lock_ < 0)
    throw IoError(fmt::format("{}: cannot be written: {}", dir.string(), std::strerror(errno)));
  if (::flock(run.lock_, LOCK_EX | LOCK_NB) != 0) {
    throw ConfigError(
        fmt::format("{}: another process is training into this folder", dir.string()));
  }
  if (used) {
    for (const auto& entry : fs::directory_iterator(dir)) {
      if (entry.path().filename() != ".lock") fs::remove_all(entry.path());
    }
  }
  make_folder(dir / "checkpoints");
  run.metrics_ =
      ::open((dir / "metrics.jsonl").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (run.metrics_ < 0)
    throw IoError(fmt::format("{}: cannot be written: {}", dir.string(), std::strerror(errno)));
  return run;
}

RunDir RunDir::open(const fs::path& dir) {
  if (!fs::exists(dir / "config.resolved.toml")) {
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

fs::path default_run_path(std::string_view name) {
  std::string stamp = to_string(std::chrono::floor<std::chrono::seconds>(now()));
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  const std::string base = fmt::format("{}-{}", stamp, name);
  fs::path path = fs::path("runs") / base;
  for (int i = 2; fs::exists(path); ++i) path = fs::path("runs") / fmt::format("{}-{}", base, i);
  return path;
}

}  // namespace foxhunt::train
