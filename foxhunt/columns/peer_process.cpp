#include "foxhunt/columns/peer_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "foxhunt/base/error.h"

extern char** environ;

namespace foxhunt::columns {

PeerProcess::PeerProcess(const std::vector<std::string>& command) : name_(command.front()) {
  std::signal(SIGPIPE, SIG_IGN);  // a peer that ended is an error of write()
  int in[2] = {-1, -1};
  int out[2] = {-1, -1};
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
    throw IoError(fmt::format("[bench] no pipe: {}", std::strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int error =
      ::posix_spawn(&pid_, name_.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (error != 0) {
    ::close(to_);
    ::close(from_);
    throw UsageError(fmt::format("{}: cannot be started: {}", name_, std::strerror(error)));
  }
}

PeerProcess::~PeerProcess() {
  ::close(to_);
  ::close(from_);
  int status = 0;
  ::waitpid(pid_, &status, 0);
}

std::string PeerProcess::ask(const std::string& line) {
  const std::string whole = line + "\n";
  std::string answer;
  bool good = ::write(to_, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size());
  for (char c = 0; good;) {
    const ssize_t got = ::read(from_, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got == 1 && c == '\n') return answer;
    good = got == 1;
    answer.push_back(c);
  }
  throw UsageError(fmt::format("{}: ended without an answer to '{}'", name_, line));
}

}  // namespace foxhunt::columns
