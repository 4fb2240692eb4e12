// The estimate of one configuration: weighs the step with LibTorch, then puts the parts together.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/train/machine_choice.h"
#include "foxhunt/train/memory/estimate.h"
#include "foxhunt/train/synthetic_data.h"

namespace foxhunt::train {

MemoryEstimate estimate_memory(const ExperimentConfig& config, std::int64_t features,
                               const DataFacts& data, bool cuda) {
  ExperimentConfig chosen = config;
  choose_for_machine(chosen, {cuda ? nn::DeviceKind::kCuda : nn::DeviceKind::kCpu, 0});
  if (features == 0) features = feature_width(config);
  const StepPlan plan = step_plan(chosen, data, cuda, this_machine().cores);
  const model::HeadConfig head = chosen.hyper.to_head_config(features, chosen.label.kind);
  const StepWeight weight = weigh_step({.hyper = chosen.hyper,
                                        .head = head,
                                        .cuda = cuda,
                                        .rows = plan.micro,
                                        .tokens = plan.tokens,
                                        .whole_tokens = data.longest});
  return compose_estimate(chosen, plan, data, features, cuda, weight, library_overhead());
}

}  // namespace foxhunt::train
