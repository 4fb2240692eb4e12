#pragma once
// The log: lines for people on stderr, one message a line; and the same lines in a run's log.txt.
//
// The one global of the project. Data for machines goes to stdout or to files, never through here.

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

namespace foxhunt::log {

enum class Level { kDebug, kInfo, kWarn, kError, kOff };

/// What reaches the console. Files get everything from kDebug up.
void set_console_level(Level level);

/// Also writes to a file (appends) until the object dies.
class FileSink {
 public:
  /// Keeps the lines until open() names the file, which then gets them all; without it they are
  /// forgotten.
  FileSink();
  /// Errors  IoError.
  explicit FileSink(const std::filesystem::path& path);
  /// Once, after the first constructor, and before another FileSink is made. Errors  IoError.
  void open(const std::filesystem::path& path);
  ~FileSink();
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
};

void write(Level level, std::string_view message);

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kWarn, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kError, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace foxhunt::log
