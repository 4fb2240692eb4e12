#pragma once
// The door to ranks that are processes. Torch-free.

#include <chrono>
#include <memory>

#include "foxhunt/ranks/place.h"
#include "foxhunt/ranks/ranks.h"

namespace foxhunt::ranks {

struct JoinOptions {
  std::chrono::milliseconds silence{20'000};  ///< after which a rank counts as lost
  std::chrono::milliseconds meeting{60'000};  ///< how long to wait for the others at the start
};

/// Meets the other ranks (LibTorch's store: TCP, or files on one host) and connects to each (Gloo).
/// When a rank is lost while this one waits in an exchange, that exchange throws; otherwise the
/// process ends with exit code 1 after a line in the log. Errors  ConfigError: the others cannot be
/// met.
std::unique_ptr<Ranks> join(const Place& place, const JoinOptions& options);

}  // namespace foxhunt::ranks
