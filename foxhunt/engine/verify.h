#pragma once
// The golden rows of a bundle, replayed on this machine.

#include <cstdint>
#include <string>

#include "foxhunt/engine/plan.h"

namespace foxhunt::engine {

struct VerifyReport {
  bool ok = false;
  bundle::Parity parity{};
  bundle::ParityBound bound{};
  std::int64_t status_differences = 0;  ///< records answered in one and not in the other
  std::string kernels;
  std::string what;  ///< the first thing that is wrong, with its record; "" when ok
};

/// Every record through a new session of the plan: its answers against the trained model's, within
/// the bound of the plan's form. A bundle without golden rows is not ok.
VerifyReport verify(const std::shared_ptr<const Plan>& plan);

}  // namespace foxhunt::engine
