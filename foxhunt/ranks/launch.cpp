#include "foxhunt/ranks/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "foxhunt/base/error.h"
#include "foxhunt/base/log.h"

extern char** environ;

namespace foxhunt::ranks {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::atomic<int> signals{0};  ///< asked for so far
std::atomic<int> last_signal{0};

void note_signal(int number) {
  last_signal = number;
  ++signals;
}

/// A folder of this user's alone, gone with the object.
class MeetingFolder {
 public:
  MeetingFolder() {
    path_ = (std::filesystem::temp_directory_path() / "foxhunt-ranks-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr)
      throw IoError(fmt::format("{}: {}", path_, std::strerror(errno)));
  }
  ~MeetingFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  MeetingFolder(const MeetingFolder&) = delete;
  MeetingFolder& operator=(const MeetingFolder&) = delete;
  std::string file() const { return path_ + "/meeting"; }

 private:
  std::string path_;
};

struct Child {
  int rank = 0;
  pid_t pid = 0;
  int output = -1;  ///< its standard output and error; -1: this program's own
  std::string line{};
  bool ended = false;
};

std::vector<std::string> environment_of(int rank, int size, const std::string& file) {
  const std::map<std::string, std::string> own{{"RANK", fmt::format("{}", rank)},
                                               {"WORLD_SIZE", fmt::format("{}", size)},
                                               {"LOCAL_RANK", fmt::format("{}", rank)},
                                               {"LOCAL_WORLD_SIZE", fmt::format("{}", size)},
                                               {"FOXHUNT_MEETING_FILE", file}};
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!own.contains(text.substr(0, text.find('=')))) out.push_back(text);
  }
  for (const auto& [name, value] : own) out.push_back(fmt::format("{}={}", name, value));
  return out;
}

std::vector<char*> pointers_of(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

Child start(const LaunchOptions& options, int rank, const std::string& file) {
  std::vector<std::string> command = options.command;
  std::vector<std::string> environment = environment_of(rank, options.size, file);
  const std::vector<char*> arguments = pointers_of(command);
  const std::vector<char*> variables = pointers_of(environment);
  int pipe[2] = {-1, -1};
  if (rank > 0 && ::pipe2(pipe, O_CLOEXEC) != 0)
    throw IoError(fmt::format("[launch] no pipe: {}", std::strerror(errno)));
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw IoError(fmt::format("[launch] no process: {}", std::strerror(errno)));
  if (pid == 0) {     // only calls that are safe between fork and exec
    ::setpgid(0, 0);  // Ctrl-C comes once, by way of this program
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(1);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    ::signal(SIGTTOU, SIG_IGN);
    if (rank > 0) {
      ::dup2(pipe[1], STDOUT_FILENO);
      ::dup2(pipe[1], STDERR_FILENO);
    }
    ::execve(arguments[0], arguments.data(), variables.data());
    const char text[] = "foxhunt launch: the program cannot be started\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, sizeof text - 1);
    ::_exit(static_cast<int>(ExitCode::kUsage));
  }
  if (rank > 0) ::close(pipe[1]);
  return {.rank = rank, .pid = pid, .output = pipe[0]};
}

void print_lines(Child& child, const char* bytes, std::size_t count, bool end) {
  child.line.append(bytes, count);
  std::size_t from = 0;
  for (std::size_t at; (at = child.line.find('\n', from)) != std::string::npos; from = at + 1)
    fmt::print(stderr, "[rank {}] {}\n", child.rank, child.line.substr(from, at - from));
  child.line.erase(0, from);
  if (end && !child.line.empty()) fmt::print(stderr, "[rank {}] {}\n", child.rank, child.line);
}

class Job {
 public:
  explicit Job(const LaunchOptions& options) : options_(options) {
    for (int rank = 0; rank < options.size; ++rank)
      children_.push_back(start(options, rank, folder_.file()));
  }
  ~Job() {
    for (const Child& child : children_) {
      if (!child.ended) ::kill(child.pid, SIGKILL);
      if (child.output >= 0) ::close(child.output);
    }
    for (const Child& child : children_) {
      if (!child.ended) ::waitpid(child.pid, nullptr, 0);
    }
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int run() {
    int seen = 0;
    while (!all_ended()) {
      read_outputs();
      reap();
      if (const int asked = signals; asked != seen) {
        send(asked > 1 ? SIGKILL : last_signal.load());
        seen = asked;
      }
      enforce();
    }
    for (int quiet = 0; quiet < 2 && read_outputs();) {
    }
    return code_;
  }

 private:
  bool all_ended() const {
    return std::ranges::all_of(children_, [](const Child& child) { return child.ended; });
  }
  void send(int signal) {
    for (const Child& child : children_) {
      if (!child.ended) ::kill(child.pid, signal);
    }
  }

  /// Waits a moment for output; true while a pipe is open and had some.
  bool read_outputs() {
    std::vector<pollfd> files;
    std::vector<Child*> owners;
    for (Child& child : children_) {
      if (child.output < 0) continue;
      files.push_back({.fd = child.output, .events = POLLIN, .revents = 0});
      owners.push_back(&child);
    }
    if (::poll(files.data(), files.size(), 50) <= 0) return false;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].revents == 0) continue;
      char bytes[4096];
      const ssize_t count = ::read(files[i].fd, bytes, sizeof bytes);
      if (count < 0 && errno == EINTR) continue;
      print_lines(*owners[i], bytes, static_cast<std::size_t>(std::max<ssize_t>(count, 0)),
                  count <= 0);
      if (count > 0) continue;
      ::close(owners[i]->output);
      owners[i]->output = -1;
    }
    return true;
  }

  void reap() {
    for (Child& child : children_) {
      int status = 0;
      if (child.ended || ::waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
      child.ended = true;
      const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      if (code == 0 || code_ != 0) continue;
      code_ = code;
      failed_at_ = steady_clock::now();
      if (WIFSIGNALED(status)) {
        log::error("foxhunt launch: rank {} of {} was killed by signal {} ({})", child.rank,
                   options_.size, WTERMSIG(status), ::strsignal(WTERMSIG(status)));
      }
    }
  }

  /// After the first failure.
  void enforce() {
    if (code_ == 0) return;
    const auto gone = steady_clock::now() - failed_at_;
    const int wanted = gone > options_.grace + milliseconds(5000) ? 2
                       : gone > options_.grace                    ? 1
                                                                  : 0;
    if (wanted <= enforced_) return;
    enforced_ = wanted;
    send(wanted == 2 ? SIGKILL : SIGTERM);
  }

  const LaunchOptions& options_;
  MeetingFolder folder_;
  std::vector<Child> children_;
  int code_ = 0;
  steady_clock::time_point failed_at_{};
  int enforced_ = 0;
};

}  // namespace

int launch(const LaunchOptions& options) {
  if (options.size < 1 || options.command.empty())
    throw UsageError("[launch] a number of processes and a command are needed");
  signals = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  return Job(options).run();
}

}  // namespace foxhunt::ranks
