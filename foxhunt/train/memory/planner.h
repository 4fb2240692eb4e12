#pragma once
// How a batch is cut so that a training step fits a budget, while batch_size stays. Torch-free.

#include <functional>
#include <string>

#include "foxhunt/train/memory/estimate.h"

namespace foxhunt::train {

struct MemoryPlan {
  MemoryEstimate estimate;  ///< of the configuration as it now is
  std::string text;         ///< what was chosen and why, one or two lines
  bool changed = false;
};

/// The estimate of a configuration.
using Estimator = std::function<MemoryEstimate(const ExperimentConfig&)>;

/// Sets micro_batch, lanes, threads and recompute of `config` to the fastest that fits. An order,
/// not a measurement, says what is faster: recomputation makes a step a third longer, lanes that
/// wait for a thread as much longer as they wait, a smaller micro-batch a little. Where the
/// configuration fits as it is, nothing changes.
/// Fits: the estimate is at most 95 % of `budget`; an estimate is no measurement.
/// Errors  MemoryError with the least that any way needs, and what to change.
MemoryPlan plan_memory(ExperimentConfig& config, std::int64_t budget, const Estimator& estimate);

}  // namespace foxhunt::train
