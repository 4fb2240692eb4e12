#pragma once
// How a model is trained: optimiser, schedule, stability, stopping. The [train] section of an
// experiment.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "foxhunt/nn/backend.h"
#include "foxhunt/train/schedule.h"

namespace foxhunt::train {

struct OptimizerConfig {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.05;
  double clip_norm = 1.0;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("beta1", c.beta1, 0.0, 0.999999, "AdamW, first moment");
    key("beta2", c.beta2, 0.0, 0.999999, "AdamW, second moment");
    key("eps", c.eps, 0.0, 1.0, "AdamW, added to the root of the second moment");
    key("weight_decay", c.weight_decay, 0.0, 10.0,
        "decoupled decay of weight matrices; A_log, dt_bias, D, norms and biases have none");
    key("clip_norm", c.clip_norm, 1e-12, std::numeric_limits<double>::infinity(),
        "limit of the global gradient norm");
  }
};

enum class Precision { kFp32, kBf16 };

/// What the backward pass computes again instead of keeping it.
enum class Recompute {
  kNone,
  kBlocks,  ///< all of a block but its input: a third more work, the same numbers
};

struct TrainConfig {
  std::int64_t epochs = 20;
  std::int64_t batch_size = 32;  ///< windows an optimiser step sees
  std::int64_t micro_batch = 0;  ///< windows a lane holds at once; 0: its whole slice
  std::int64_t seed = 1;
  std::int64_t threads = 0;  ///< 0: all cores
  std::int64_t lanes = 0;    ///< 0: see lanes.h
  nn::Kernels kernels = nn::Kernels::kNative;
  Precision precision = Precision::kFp32;
  Recompute recompute = Recompute::kNone;
  std::string memory_budget = "0";  ///< memory/byte_size.h; 0: none
  bool class_weights = false;
  double a_min = 0.1;
  double a_max = 1e3;
  std::int64_t patience = 6;
  std::int64_t checkpoint_every = 0;  ///< steps; 0: at the end of every epoch
  std::int64_t keep_checkpoints = 3;
  std::int64_t log_every = 0;  ///< steps between step lines in metrics.jsonl; 0: none
  std::int64_t max_bad_steps = 20;
  std::int64_t rank_timeout = 20;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("epochs", c.epochs, 1, 1'000'000, "passes over the training windows");
    key("batch_size", c.batch_size, 1, 1'000'000, "windows an optimiser step sees");
    key("micro_batch", c.micro_batch, 0, 1'000'000,
        "windows a lane holds at once, gradients accumulate to batch_size; 0: its whole slice");
    key("seed", c.seed, 0, std::numeric_limits<std::int64_t>::max(), "one seed, split by purpose");
    key("threads", c.threads, 0, 1024,
        "CPU threads; 0: all cores. With native kernels no result depends on it");
    key("lanes", c.lanes, 0, 1024,
        "slices a batch is cut into on the CPU, each one thread's work; sums run over "
        "a fixed tree of lanes. 0: one a window, at most 8");
    key.choice("kernels", c.kernels,
               {{"native", nn::Kernels::kNative}, {"aten", nn::Kernels::kAten}},
               "who computes on the CPU: the project's own kernels or LibTorch's operations");
    key.choice("precision", c.precision, {{"fp32", Precision::kFp32}, {"bf16", Precision::kBf16}},
               "of the matrix products; state, decays and weights are always fp32");
    key.choice(
        "recompute", c.recompute, {{"none", Recompute::kNone}, {"blocks", Recompute::kBlocks}},
        "what the backward pass computes again instead of keeping it: nothing, or the inside "
        "of every block, for about a third more work and the same numbers");
    key("memory_budget", c.memory_budget,
        "memory that a run may take, as \"4GB\" or \"512MiB\": micro_batch, lanes, threads and "
        "recompute are chosen to fit, and a run that would pass it stops with a saved checkpoint; "
        "0: none");
    key("class_weights", c.class_weights,
        "weigh classes by the inverse of their frequency in training rows; shifts the "
        "probabilities away from the true shares");
    key("a_min", c.a_min, 1e-12, 1e6, "smallest decay rate |A|, kept after every step");
    key("a_max", c.a_max, 1e-12, 1e6, "largest decay rate |A|, kept after every step");
    key("patience", c.patience, 0, 1'000'000,
        "epochs without a better validation loss before stopping; 0: never");
    key("checkpoint_every", c.checkpoint_every, 0, 1'000'000'000,
        "steps between checkpoints; 0: every epoch");
    key("keep_checkpoints", c.keep_checkpoints, 1, 1'000'000,
        "newest checkpoints kept, beside the best");
    key("log_every", c.log_every, 0, 1'000'000'000,
        "steps between lines of single steps in metrics.jsonl; 0: never, epochs alone");
    key("max_bad_steps", c.max_bad_steps, 1, 1'000'000,
        "non-finite steps in a row that end the training");
    key("rank_timeout", c.rank_timeout, 2, 86'400,
        "with several processes: seconds without a sign of life after which one counts as lost");
    key.section("optimizer", c.optimizer, "AdamW");
    key.section("schedule", c.schedule, "learning rate over time");
  }
};

}  // namespace foxhunt::train
