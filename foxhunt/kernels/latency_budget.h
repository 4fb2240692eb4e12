#pragma once
// How large a model may be to answer within a budget of microseconds on one core of this machine.
//
// Latency = bytes: one step of a streaming model at batch 1 reads every weight and reads and writes
// the state, so it takes at least those bytes over the rate at which a core reads its L2. Beyond
// half of L2 that rate is not to be had: code, inputs and neighbours want their part, and past it
// the step slows down several times.

#include <cstdint>
#include <optional>
#include <string>

#include "foxhunt/kernels/hardware_aware.h"

namespace foxhunt::kernels {

/// One step of one stream in float32.
struct StepCost {
  std::int64_t parameters = 0;
  std::int64_t state_floats = 0;    ///< of the state space and the convolution's window
  std::int64_t moved_bytes = 0;     ///< 4 parameters + 8 state floats
  std::int64_t resident_bytes = 0;  ///< what has to stay in L2: 4 parameters + 4 state floats

  friend bool operator==(const StepCost&, const StepCost&) = default;
};
/// Parameters as in model/tensor_list.h, with a bias at the convolution, input and head, and
/// without biases at the projections. Errors  as check_sizes().
StepCost step_cost(const ModelSizes& sizes);

/// Both times with warm caches; after other work has taken them a step is several times slower.
struct ModelFit {
  ModelSizes sizes;
  StepCost cost;
  double floor_us = 0.0;      ///< bytes over the best L2 rate (L1's, where all fits there)
  double realistic_us = 0.0;  ///< over the L2 rate that the engine reaches
  bool in_l2 = false;         ///< resident_bytes <= half of L2; else both times are too small
};

struct LatencyFit {
  double budget_us = 0.0;
  double floor_gb_per_s = 0.0;           ///< fastest sample of the L2 rate
  double realistic_gb_per_s = 0.0;       ///< median L2 rate times kEngineShare
  std::int64_t most_resident_bytes = 0;  ///< half of L2
  ModelFit example;                      ///< default_hft
  /// Shapes like default_hft: widest at 4 layers (d_model a multiple of 16), deepest at d_model 64,
  /// within the budget by the realistic time; and by the floor, which no engine passes. Nothing
  /// where not even the smallest fits.
  std::optional<ModelFit> widest;
  std::optional<ModelFit> deepest;
  std::optional<ModelFit> widest_at_floor;
  std::optional<ModelFit> deepest_at_floor;
  std::string reason;
};

/// Of the L2 rate, what the engine's float32 step reaches: 539,712 bytes in 5.4 us where L2 gives
/// 115 GB/s, 1.17 times the streaming floor (docs/latency.md: bench step --preset default_hft).
inline constexpr double kEngineShare = 0.85;
/// Stands for an L2 rate that was not measured: between 165 and 217 GB/s on two server cores.
inline constexpr double kAssumedL2Rate = 180.0;

/// Errors  UsageError where the budget is not positive and finite.
LatencyFit model_for_budget(const Hardware& hardware, double budget_us);

/// The same two times for any model. Errors  as check_sizes().
ModelFit fit_of(const Hardware& hardware, const ModelSizes& sizes);

}  // namespace foxhunt::kernels
