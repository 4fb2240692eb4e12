#pragma once
// How many system calls a piece of work makes, for work that makes some: counted under ptrace in a
// child process, where they take effect as usual. Zero is proven more strictly by syscall_proof.h.

#include <cstdint>
#include <optional>
#include <string>

#include "foxhunt/latency/work.h"

namespace foxhunt::latency {

struct SyscallCount {
  std::optional<std::int64_t> calls;  ///< in all runs together; nothing: could not be counted
  std::string text;                   ///< why it could not
};

/// Forks and traces the child over `runs` runs after `warm` untraced ones. The child has the
/// calling thread alone. Errors  UsageError: no work, runs < 1; IoError: fork failed.
SyscallCount count_syscalls(const Work& work, std::int64_t runs, std::int64_t warm = 1);

}  // namespace foxhunt::latency
