#include "foxhunt/experiments/children.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"

namespace foxhunt::experiments {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int open_file(const std::filesystem::path& path, int flags) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
  if (fd < 0)
    throw IoError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  return fd;
}

/// Between fork and exec: only what a signal handler may call.
[[noreturn]] void become(const char* program, char* const* arguments, int output, int log,
                         pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before the line above
  ::setpgid(0, 0);  // Ctrl-C of the terminal comes once, passed on by the parent
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execv(program, arguments);
  ::_exit(127);
}

}  // namespace

Children::~Children() {
  for (const auto& [pid, child] : running_) ::kill(pid, SIGKILL);
  for (const auto& [pid, child] : running_) ::waitpid(pid, nullptr, 0);
}

void Children::start(const Job& job) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> words{program};
  words.insert(words.end(), job.arguments.begin(), job.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int output = open_file(job.output, O_TRUNC);
  const int log = open_file(job.log, O_APPEND);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(program.c_str(), arguments.data(), output, log, parent);
  ::close(output);
  ::close(log);
  if (child < 0)
    throw IoError(fmt::format("{}: no child process: {}", program, std::strerror(errno)));
  running_[child] = {.id = job.id, .started = seconds_now()};
}

Ended Children::wait_for_one() {
  while (true) {
    if (interrupted() && !told_) {
      told_ = true;
      for (const auto& [pid, child] : running_) ::kill(pid, SIGTERM);
    }
    for (const auto& [pid, child] : running_) {
      int status = 0;
      if (::waitpid(pid, &status, WNOHANG) != pid) continue;
      const Ended ended{
          .id = child.id,
          .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .seconds = seconds_now() - child.started};
      running_.erase(pid);
      return ended;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

std::string last_line(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::string line;
  std::string last;
  while (std::getline(file, line)) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return last;
}

}  // namespace foxhunt::experiments
