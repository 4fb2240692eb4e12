#pragma once
// The golden rows of a bundle, replayed on this machine.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "foxhunt/engine/plan.h"
#include "foxhunt/market/record.h"

namespace foxhunt::engine {

struct VerifyReport {
  bool ok = false;
  bundle::Parity parity{};
  bundle::ParityBound bound{};
  std::int64_t status_differences = 0;  ///< records answered in one and not in the other
  std::string kernels;
  std::string what;  ///< the first thing that is wrong, with its record; "" when ok
};

/// Records, bars or order events, and the trained model's answers to them.
struct Rows {
  std::span<const market::Bar> bars{};
  std::span<const market::OrderEvent> events{};
  std::span<const std::uint8_t> ready{};  ///< [records] 1 where the trained model answered
  std::span<const float> outputs{};       ///< [sum of ready, K]
};

/// The same for any records: what the exporter compares before there is a bundle.
VerifyReport replay(const std::shared_ptr<const Plan>& plan, const Rows& rows);

/// Every record through a new session of the plan: its answers against the trained model's, within
/// the bound of the plan's form. A bundle without golden rows is not ok.
VerifyReport verify(const std::shared_ptr<const Plan>& plan);

}  // namespace foxhunt::engine
