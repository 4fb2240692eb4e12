#pragma once
// This program again, in child processes: at most so many at once, none of which outlives it.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace foxhunt::experiments {

struct Job {
  std::size_t id = 0;
  std::vector<std::string> arguments{};  ///< behind the program's name
  std::filesystem::path output{};        ///< its standard output, from the beginning
  std::filesystem::path log{};           ///< its standard error, appended
};

struct Ended {
  std::size_t id = 0;
  int exit_code = 0;  ///< 128 + signal where one ended it
  double seconds = 0;
};

class Children {
 public:
  Children() = default;
  /// Kills those that still run and waits for them.
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  std::size_t running() const { return running_.size(); }
  /// Starts this program. The kernel kills the child when this process dies, however it dies.
  /// Errors  IoError: no process, or files that cannot be written.
  void start(const Job& job);
  /// Waits for the next one to end. Ctrl-C and SIGTERM are passed on to all, who save and end.
  Ended wait_for_one();

 private:
  struct Running {
    std::size_t id = 0;
    double started = 0;
  };
  std::map<pid_t, Running> running_{};
  bool told_ = false;
};

/// The last line of a log that says something, for a report of what went wrong.
std::string last_line(const std::filesystem::path& log);

}  // namespace foxhunt::experiments
