#pragma once
// Proof that a piece of work makes no system call: it runs in a child process under a seccomp
// filter that allows leaving and nothing else.
//
// Locks are covered by what they cost: a mutex without contention is one atomic instruction and
// makes no call, so it passes; one that waits or wakes makes a futex call and fails. count_locks.h
// counts the ones that pass.

#include <cstdint>
#include <string>

#include "foxhunt/latency/work.h"

namespace foxhunt::latency {

enum class SyscallVerdict {
  kNone,         ///< every run survived
  kCalled,       ///< a run made a system call
  kDied,         ///< the work itself ended the child (a signal, a limit)
  kUnavailable,  ///< this platform forbids the proof: nothing is known
};

struct SyscallProof {
  SyscallVerdict verdict = SyscallVerdict::kUnavailable;
  std::int64_t runs = 0;  ///< that were finished without a call
  int number = -1;        ///< of the system call; -1: none, or not seen
  std::string text;       ///< one sentence

  bool none() const noexcept { return verdict == SyscallVerdict::kNone; }
};

/// Forks; the child runs `work` `warm` times freely (memory that fork shares is copied on first
/// write, which is a fault and no call), then `runs` times under the filter.
/// The child is a copy of this process with the calling thread alone: work that waits for another
/// thread never ends, so the child is killed after `limit_seconds` of CPU time.
/// Errors  UsageError: no work, runs < 1; IoError: fork failed. Unavailable under the thread
/// sanitizer, which makes calls of its own.
SyscallProof prove_no_syscalls(const Work& work, std::int64_t runs, std::int64_t warm = 1,
                               unsigned limit_seconds = 60);

}  // namespace foxhunt::latency
