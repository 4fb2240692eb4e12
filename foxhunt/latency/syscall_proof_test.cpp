#include "foxhunt/latency/syscall_proof.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <mutex>

#include "foxhunt/base/error.h"

namespace foxhunt::latency {
namespace {

/// Skips by name where the platform forbids the proof, which is said and not taken for a pass.
#define PROVE_OR_SKIP(proof, ...)                            \
  const SyscallProof proof = prove_no_syscalls(__VA_ARGS__); \
  if (proof.verdict == SyscallVerdict::kUnavailable) {       \
    EXPECT_FALSE(proof.none());                              \
    EXPECT_EQ(proof.text.substr(0, 11), "not proven:");      \
    GTEST_SKIP() << proof.text;                              \
  }

TEST(SyscallProof, ArithmeticSurvivesEveryRun) {
  double sum = 1.0;
  const Work work{[](void* context) noexcept {
                    auto& value = *static_cast<double*>(context);
                    value = std::sqrt(value + 1.0);
                  },
                  &sum};
  PROVE_OR_SKIP(proof, work, 1000);
  EXPECT_EQ(proof.verdict, SyscallVerdict::kNone) << proof.text;
  EXPECT_TRUE(proof.none());
  EXPECT_EQ(proof.runs, 1000);
  EXPECT_EQ(proof.text, "no system call in 1000 runs (seccomp)");
  EXPECT_EQ(sum, 1.0);  // the work ran in the child
}

TEST(SyscallProof, ASystemCallIsNamedWithTheRunThatMadeIt) {
  int runs = 0;
  const Work work{[](void* context) noexcept {
                    if (++*static_cast<int*>(context) == 8) ::syscall(SYS_getppid);
                  },
                  &runs};
  PROVE_OR_SKIP(proof, work, 1000, 0);
  EXPECT_EQ(proof.verdict, SyscallVerdict::kCalled);
  EXPECT_EQ(proof.number, SYS_getppid);
  EXPECT_EQ(proof.runs, 7);
  EXPECT_FALSE(proof.none());
  EXPECT_NE(proof.text.find("run 8"), std::string::npos) << proof.text;
}

TEST(SyscallProof, CallsOfTheWarmUpAreAllowed) {
  int runs = 0;
  const Work work{[](void* context) noexcept {
                    if (++*static_cast<int*>(context) <= 3) ::syscall(SYS_getppid);
                  },
                  &runs};
  PROVE_OR_SKIP(proof, work, 10, 3);
  EXPECT_EQ(proof.verdict, SyscallVerdict::kNone) << proof.text;
}

TEST(SyscallProof, AMutexWithoutContentionPassesAndAWaitOnOneDoesNot) {
  static std::mutex mutex;
  const Work polite{[](void*) noexcept { const std::lock_guard lock(mutex); }, nullptr};
  PROVE_OR_SKIP(passes, polite, 100);
  EXPECT_EQ(passes.verdict, SyscallVerdict::kNone) << passes.text;

  const std::lock_guard held(mutex);  // in the child, too: nobody will ever unlock it
  const SyscallProof waits = prove_no_syscalls(polite, 100, 0);
  EXPECT_EQ(waits.verdict, SyscallVerdict::kCalled);
  EXPECT_EQ(waits.number, SYS_futex);
}

TEST(SyscallProof, WorkThatDiesIsNotTakenForWorkThatCalls) {
  const Work work{[](void*) noexcept { asm volatile("ud2"); }, nullptr};
  PROVE_OR_SKIP(proof, work, 5, 0);
  EXPECT_EQ(proof.verdict, SyscallVerdict::kDied);
  EXPECT_EQ(proof.runs, 0);
}

TEST(SyscallProof, WorkThatNeverEndsIsStopped) {
  volatile bool on = true;  // sanitizers make a call before code that provably never returns
  const Work work{[](void* context) noexcept {
                    while (*static_cast<volatile bool*>(context)) {
                    }
                  },
                  const_cast<bool*>(&on)};
  PROVE_OR_SKIP(proof, work, 5, 0, 1);
  EXPECT_EQ(proof.verdict, SyscallVerdict::kDied) << proof.text;
}

TEST(SyscallProof, RefusesNothingToRun) {
  EXPECT_THROW(prove_no_syscalls({}, 1), UsageError);
  EXPECT_THROW(prove_no_syscalls({[](void*) noexcept {}, nullptr}, 0), UsageError);
}

}  // namespace
}  // namespace foxhunt::latency
