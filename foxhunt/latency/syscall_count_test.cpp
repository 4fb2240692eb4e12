#include "foxhunt/latency/syscall_count.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "foxhunt/base/error.h"

namespace foxhunt::latency {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kOwnCalls = true;
#else
constexpr bool kOwnCalls = false;
#endif

void call_n(void* context) noexcept {
  for (int i = *static_cast<int*>(context); i > 0; --i) ::syscall(SYS_getppid);
}

TEST(SyscallCount, EqualsTheCallsThatWereMade) {
  if (kOwnCalls) GTEST_SKIP() << "the thread sanitizer makes system calls of its own";
  for (int calls : {0, 1, 3}) {
    const SyscallCount count = count_syscalls({&call_n, &calls}, 7);
    if (!count.calls) GTEST_SKIP() << count.text;
    EXPECT_EQ(*count.calls, 7 * calls);
    EXPECT_EQ(count.text, "");
  }
}

TEST(SyscallCount, SignalsOfTheWorkReachItAndAreNoStopOfTheCount) {
  if (kOwnCalls) GTEST_SKIP() << "the thread sanitizer makes system calls of its own";
  static volatile sig_atomic_t handled = 0;
  const auto previous = ::signal(SIGUSR1, [](int) { handled = handled + 1; });
  const Work work{[](void*) noexcept {
                    const auto self = static_cast<pid_t>(::syscall(SYS_getpid));
                    ::syscall(SYS_kill, self, SIGUSR1);
                    if (handled == 0) __builtin_trap();
                  },
                  nullptr};
  const SyscallCount count = count_syscalls(work, 5, 0);
  ::signal(SIGUSR1, previous);
  if (!count.calls) GTEST_SKIP() << count.text;
  EXPECT_EQ(*count.calls, 5 * 3);  // getpid, kill, and the return from the handler
}

TEST(SyscallCount, WorkThatDiesIsNotCountedAndSaysSo) {
  const SyscallCount count = count_syscalls({[](void*) noexcept { ::_exit(3); }, nullptr}, 5, 0);
  EXPECT_FALSE(count.calls.has_value());
  EXPECT_EQ(count.text.substr(0, 12), "not counted:");
}

TEST(SyscallCount, RefusesNothingToRun) {
  EXPECT_THROW(count_syscalls({}, 1), UsageError);
  EXPECT_THROW(count_syscalls({[](void*) noexcept {}, nullptr}, 0), UsageError);
}

}  // namespace
}  // namespace foxhunt::latency
