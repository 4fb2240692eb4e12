#include "foxhunt/train/memory/estimate.h"

#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/kernels/block.h"
#include "foxhunt/model/tensor_list.h"
#include "foxhunt/train/memory/block_cache.h"
#include "foxhunt/train/memory/byte_size.h"

namespace foxhunt::train {
namespace {

/// Bytes of a row of a Sequence beside its features, of its labels, and its Part.
constexpr std::int64_t kRowBytes = 3 * 8 + (1 + 1 + 4 + 8 + 1) + 1;
/// Bytes of a row of a Batch beside its features: class, value, mask.
constexpr std::int64_t kBatchRowBytes = 8 + 4 + 4;

/// Rows that Mamba2SequenceModel::answer() holds at once.
constexpr std::int64_t kRowsOfAnAnswer = 1024;

/// The mixer as the kernels see it; what has no size is left at zero.
kernels::BlockShape block_shape(const model::Mamba2Config& c) {
  const auto gate =
      c.gate_norm == model::GateNorm::kNone ? kernels::Gate::kNoNorm : kernels::Gate::kGateFirst;
  return {c.d_model,
          0.0,
          {{c.n_heads(), c.headdim, c.ngroups, c.d_state}, c.d_conv, c.chunk(), gate, 0, 0, 0}};
}

/// The most that BlockCache holds where `in_use` is the most that is in use.
std::int64_t held(std::int64_t in_use) {
  return in_use + std::max(in_use / BlockCache::kSlackShare, BlockCache::kSlack) / 2;
}

std::int64_t batch_bytes(const ExperimentConfig& config, const StepPlan& plan,
                         std::int64_t features) {
  return config.hyper.train.batch_size * plan.tokens * (4 * features + kBatchRowBytes);
}

/// Of the project's own kernels on the CPU: a set for every thread.
std::int64_t scratch_bytes(const ExperimentConfig& config, const StepPlan& plan,
                           const DataFacts& data) {
  const TrainConfig& train = config.hyper.train;
  if (train.kernels != nn::Kernels::kNative) return 0;
  const std::int64_t tokens =
      std::max(plan.tokens, std::min<std::int64_t>(data.longest, kRowsOfAnAnswer));
  return plan.threads * kernels::block_scratch_bytes(block_shape(config.hyper.model), tokens,
                                                     train.precision == Precision::kBf16);
}

}  // namespace

std::string StepPlan::text() const {
  if (lanes == 1) return fmt::format("{} windows of {} rows at once", micro, tokens);
  return fmt::format("{} lanes on {} threads, each {} windows of {} rows at once", lanes, threads,
                     micro, tokens);
}

StepPlan step_plan(const ExperimentConfig& config, const DataFacts& data, bool cuda,
                   std::int64_t cores) {
  const TrainConfig& train = config.hyper.train;
  StepPlan plan;
  const bool replicas = !cuda && train.kernels == nn::Kernels::kNative;
  plan.lanes = replicas ? std::min(train.lanes > 0 ? train.lanes : 8, train.batch_size) : 1;
  plan.threads = std::clamp<std::int64_t>(train.threads > 0 ? train.threads : cores, 1, plan.lanes);
  plan.slice = (train.batch_size + plan.lanes - 1) / plan.lanes;
  plan.micro = train.micro_batch > 0 ? std::min(train.micro_batch, plan.slice) : plan.slice;
  plan.tokens =
      data.longest > 0 ? std::min(config.windows.length, data.longest) : config.windows.length;
  return plan;
}

const MemoryPhase& MemoryEstimate::fullest() const {
  return *std::max_element(
      phases.begin(), phases.end(),
      [](const MemoryPhase& a, const MemoryPhase& b) { return a.total < b.total; });
}

std::int64_t MemoryEstimate::allocator_peak() const {
  std::int64_t peak = 0;
  for (const MemoryPhase& phase : phases) peak = std::max(peak, phase.allocator);
  return peak;
}

std::int64_t bytes_beside_tensors(const ExperimentConfig& config, const StepPlan& plan,
                                  const DataFacts& data, std::int64_t features) {
  return scratch_bytes(config, plan, data) + batch_bytes(config, plan, features) +
         plan.threads * data.longest * (4 * features + kBatchRowBytes);
}

MemoryEstimate compose_estimate(const ExperimentConfig& config, const StepPlan& plan,
                                const DataFacts& data, std::int64_t features, bool cuda,
                                const StepWeight& w, const LibraryOverhead& overhead) {
  const TrainConfig& train = config.hyper.train;
  const model::HeadConfig head = config.hyper.to_head_config(features, config.label.kind);
  MemoryEstimate e;
  e.device = cuda ? "cuda" : "cpu";
  e.plan = plan;
  e.data = data;
  e.parameters = model::parameter_count(config.hyper.model, head);
  e.layers = config.hyper.model.n_layer;
  e.kept_a_layer = w.kept_a_layer;

  const std::int64_t weights = 4 * e.parameters;
  const std::int64_t best = train.epochs > 1 ? weights : 0;
  const std::int64_t resting = w.model_and_optimizer + best;
  const bool several = plan.micro < plan.slice;
  // While some lanes are at their fullest, the others have left their gradients behind.
  const std::int64_t lane = several ? std::max(w.step, w.later_step) : w.step;
  const std::int64_t others = (plan.lanes - plan.threads) * w.gradients;
  const std::int64_t stepping =
      resting + std::max(others + plan.threads * lane, plan.lanes * w.gradients + w.update);
  const std::int64_t validating = resting + std::max(plan.threads * w.validation, w.health);

  const std::int64_t rows = data.rows * (4 * features + kRowBytes);
  const std::int64_t batch = batch_bytes(config, plan, features);
  const std::int64_t whole = data.longest * (4 * features + kBatchRowBytes);
  const std::int64_t scratch = cuda ? 0 : scratch_bytes(config, plan, data);
  const std::int64_t image = 2 * weights;  // of the largest file, in memory before it is written
  const std::int64_t library =
      cuda ? overhead.cuda : overhead.cpu + (plan.threads - 1) * overhead.a_thread;

  e.parts = {
      {"weights", weights, fmt::format("{} parameters in float32", e.parameters)},
      {"gradients", plan.lanes * w.gradients + weights,
       fmt::format("{} a lane, {} lanes, and their sum", w.gradients, plan.lanes)},
      {"optimizer", 2 * weights, "two moments"},
      {"best weights", best,
       train.epochs > 1 ? "kept since the best epoch" : "one epoch: none yet"},
      {"activations", plan.threads * w.kept,
       fmt::format("{} a layer and lane, {} lanes at once", w.kept_a_layer, plan.threads)},
      {"backward pass", plan.threads * std::max<std::int64_t>(0, w.step - w.kept),
       "above the activations, at the fullest moment"},
      {"validation", validating - resting, "above weights and optimiser, while nothing trains"},
      {"checkpoint", image, "a file in memory before it is written, while nothing trains"},
      {"kernels", scratch, "scratch of the project's own kernels, a thread each"},
      {"data", cuda ? 0 : rows, cuda ? "on the host" : data.source},
      {"batch", cuda ? plan.micro * plan.tokens * (4 * features + kBatchRowBytes) : batch,
       "the windows of a step"},
      {"library", library,
       cuda ? "context and libraries: assumed, not measured"
            : "LibTorch and the program: measured"},
  };
  if (cuda) {
    const std::int64_t fixed = overhead.cuda_workspace;
    e.parts.push_back({"workspace", fixed, "of cuBLAS: assumed"});
    e.phases = {{"training step", stepping + fixed, stepping + fixed + library},
                {"validation", validating + fixed, validating + fixed + library}};
    return e;
  }
  const std::int64_t ground = library + rows + scratch + batch;
  // Freed memory of a step stays for the next one; under a budget it makes room for a file.
  const bool budget = parse_byte_size(train.memory_budget) > 0;
  const std::int64_t fullest = std::max(stepping, validating);
  e.phases = {
      {"training step", stepping, ground + held(stepping)},
      {"validation", validating, ground + held(validating) + plan.threads * whole},
      {"saving", resting, ground + held(budget ? resting : fullest) + image},
  };
  return e;
}

}  // namespace foxhunt::train
