#pragma once
// Memory that was refused: a budget that does not suffice, before a run or in the middle of one.

#include <string>

#include "foxhunt/base/error.h"

namespace foxhunt::train {

/// Exit code 4. The text says what was asked for, what there was, and what to change.
struct MemoryError : Error {
  explicit MemoryError(const std::string& what) : Error(ExitCode::kMemory, what) {}
};

}  // namespace foxhunt::train
