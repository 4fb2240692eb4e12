#include "foxhunt/latency/syscall_count.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "foxhunt/base/error.h"

namespace foxhunt::latency {
namespace {

constexpr int kNoTrace = 79;

/// Between two stops that the child asks for lie the runs and nothing else.
[[noreturn]] void run_child(const Work& work, std::int64_t runs, std::int64_t warm) noexcept {
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(kNoTrace);
  for (std::int64_t i = 0; i < warm; ++i) work.run(work.context);
  const auto self = static_cast<pid_t>(::syscall(SYS_getpid));
  ::syscall(SYS_kill, self, SIGSTOP);
  for (std::int64_t i = 0; i < runs; ++i) work.run(work.context);
  ::syscall(SYS_kill, self, SIGSTOP);
  ::_exit(0);
}

/// Waits; whether the child has stopped (else it is gone).
bool stopped(pid_t child, int& status) {
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFSTOPPED(status);
}

/// The child stands in its first SIGSTOP. Stops at entry and exit of each call come as SIGTRAP with
/// bit 7 (PTRACE_O_TRACESYSGOOD).
std::optional<std::int64_t> count_until_stop(pid_t child) {
  std::int64_t stops = 0;
  long deliver = 0;
  for (;;) {
    if (::ptrace(PTRACE_SYSCALL, child, nullptr, deliver) != 0) return std::nullopt;
    int status = 0;
    if (!stopped(child, status)) return std::nullopt;
    deliver = 0;
    if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
      ++stops;
    } else if (WSTOPSIG(status) == SIGSTOP) {
      break;
    } else {
      deliver = WSTOPSIG(status);
    }
  }
  // Entry and exit of the second kill() belong to the frame: its signal stops the child on the way
  // back, as that of the first did before tracing began.
  return stops >= 2 && stops % 2 == 0 ? std::optional<std::int64_t>(stops / 2 - 1) : std::nullopt;
}

}  // namespace

SyscallCount count_syscalls(const Work& work, std::int64_t runs, std::int64_t warm) {
  if (work.run == nullptr || runs < 1) {
    throw UsageError(
        fmt::format("[latency] a count needs work and at least one run, not {}", runs));
  }
  const pid_t child = ::fork();
  if (child == 0) run_child(work, runs, warm);
  if (child < 0) {
    throw IoError(fmt::format("[latency] a child process: {}", std::strerror(errno)));
  }
  int status = 0;
  SyscallCount result;
  if (!stopped(child, status)) {
    result.text = WIFEXITED(status) && WEXITSTATUS(status) == kNoTrace
                      ? "not counted: this platform forbids ptrace"
                      : "not counted: the work ended its process";
    return result;
  }
  if (::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0) {
    result.calls = count_until_stop(child);
  }
  if (!result.calls) result.text = "not counted: tracing the work failed";
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return result;
}

}  // namespace foxhunt::latency
