#include "foxhunt/latency/syscall_proof.h"

#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "foxhunt/base/error.h"

namespace foxhunt::latency {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

/// A page that parent and child share.
struct Report {
  volatile std::int64_t runs;
  volatile int number;
  volatile int refused;  ///< errno of what the platform forbade
};

enum ChildExit : int { kSurvived = 0, kMadeCall = 77, kForbidden = 78 };

/// Only in the child, which has one thread: where the handler finds the page.
Report* report_of_child = nullptr;

/// exit() itself is a system call that the filter allows; glibc's _exit() would make another.
[[noreturn]] void leave(int code) noexcept {
  for (;;) ::syscall(SYS_exit, code);
}

void on_call(int /*signal*/, siginfo_t* info, void* /*context*/) noexcept {
  report_of_child->number = info->si_syscall;
  leave(kMadeCall);
}

/// Errno, 0 when the filter stands. A call of another architecture's table is refused like any.
int stand_filter() noexcept {
  std::array<sock_filter, 7> code = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  sock_fprog program{.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return errno;
  return 0;
}

[[noreturn]] void run_child(const Work& work, std::int64_t runs, std::int64_t warm,
                            unsigned limit_seconds, Report* report) noexcept {
  report_of_child = report;
  const rlimit limit{.rlim_cur = limit_seconds, .rlim_max = limit_seconds};
  ::setrlimit(RLIMIT_CPU, &limit);
  struct sigaction action {};
  action.sa_sigaction = &on_call;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, nullptr);
  // A crash is the work's own end, and not the calls that a handler of this program makes about it.
  for (const int crash : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGXCPU}) {
    ::signal(crash, SIG_DFL);
  }
  for (std::int64_t i = 0; i < warm; ++i) work.run(work.context);
  report->refused = stand_filter();
  if (report->refused != 0) leave(kForbidden);
  for (std::int64_t i = 0; i < runs; ++i) {
    work.run(work.context);
    report->runs = i + 1;
  }
  leave(kSurvived);
}

SyscallProof judge(int status, const Report& report) {
  SyscallProof proof{.runs = report.runs, .number = report.number, .text = {}};
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == kSurvived) {
    proof.verdict = SyscallVerdict::kNone;
    proof.text = fmt::format("no system call in {} runs (seccomp)", proof.runs);
  } else if (code == kMadeCall) {
    proof.verdict = SyscallVerdict::kCalled;
    proof.text = fmt::format("system call number {} in run {}", proof.number, proof.runs + 1);
  } else if (code == kForbidden) {
    proof.text = fmt::format("not proven: this platform forbids a seccomp filter ({})",
                             std::strerror(report.refused));
  } else if (WIFSIGNALED(status)) {
    proof.verdict = SyscallVerdict::kDied;
    proof.text = fmt::format("the work ended its process in run {}: signal {} ({})", proof.runs + 1,
                             WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  } else {
    proof.verdict = SyscallVerdict::kDied;
    proof.text =
        fmt::format("the work ended its process in run {}: exit code {}", proof.runs + 1, code);
  }
  return proof;
}

}  // namespace

SyscallProof prove_no_syscalls(const Work& work, std::int64_t runs, std::int64_t warm,
                               unsigned limit_seconds) {
  if (work.run == nullptr || runs < 1) {
    throw UsageError(
        fmt::format("[latency] a proof needs work and at least one run, not {}", runs));
  }
  if (kThreadSanitizer) {
    return {.text = "not proven: the thread sanitizer makes system calls of its own"};
  }
  void* page =
      ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    throw IoError(fmt::format("[latency] a page for a child process: {}", std::strerror(errno)));
  }
  auto* report = static_cast<Report*>(page);
  report->number = -1;
  const pid_t child = ::fork();
  if (child == 0) run_child(work, runs, warm, limit_seconds, report);
  int status = 0;
  const int fork_error = errno;
  if (child > 0) {
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  SyscallProof proof = child > 0 ? judge(status, *report) : SyscallProof{};
  ::munmap(page, sizeof(Report));
  if (child < 0) {
    throw IoError(fmt::format("[latency] a child process: {}", std::strerror(fork_error)));
  }
  return proof;
}

}  // namespace foxhunt::latency
