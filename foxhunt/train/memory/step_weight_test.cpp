// The weight of a step, found on meta, against what the counting allocator sees when the same step
// is run on the CPU; and against the closed form of what a block keeps.
#include "foxhunt/train/memory/step_weight.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "foxhunt/kernels/block.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/nn/ssd_layer.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/memory/cpu_allocator.h"
#include "foxhunt/train/training_step.h"

namespace foxhunt::train {
namespace {

struct Case {
  const char* name;
  std::int64_t d_model, layers, d_state, rows, tokens;
  nn::Kernels kernels;
  Precision precision;
  Recompute recompute;
  /// Of what is measured. Native: tensors of one number, which LibTorch makes on the CPU whatever
  /// the device. LibTorch's own operations take some scratch inside of themselves.
  double tolerance;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Mamba2Hyperparameters hyper_of(const Case& c) {
  Mamba2Hyperparameters hyper;
  hyper.model.d_model = c.d_model;
  hyper.model.n_layer = c.layers;
  hyper.model.d_state = c.d_state;
  hyper.model.headdim = 16;
  hyper.model.chunk_size = 32;
  hyper.train.kernels = c.kernels;
  hyper.train.precision = c.precision;
  hyper.train.recompute = c.recompute;
  return hyper;
}

const model::HeadConfig kHead{.n_features = 20, .n_classes = 3};

/// The same steps with numbers in them.
StepWeight measured(const Case& c) {
  BlockCache& cache = use_counted_memory();
  const Mamba2Hyperparameters hyper = hyper_of(c);
  const auto in_use = [&cache] { return cache.use().in_use; };
  const auto peak_above = [&](const auto& f) {
    const std::int64_t before = in_use();
    cache.reset_peaks();
    f();
    return cache.use().in_use_peak - before;
  };
  StepWeight w;
  const std::int64_t empty = in_use();
  nn::Mamba2SSM model(hyper.to_model_config(), kHead, at::kCPU);
  model.use_kernels(c.kernels);
  model.recompute_blocks(c.recompute == Recompute::kBlocks);
  Mamba2SequenceModel sequence(model, 0.1, 1e3);
  Optimizer optimizer(sequence.parameters(), hyper.train.optimizer);
  w.model_and_optimizer = in_use() - empty;

  std::vector<float> x(static_cast<std::size_t>(c.rows * c.tokens * 20), 0.5F);
  const auto batch = [&](std::int64_t rows) {
    return DeviceBatch{at::from_blob(x.data(), {rows, c.tokens, 20}),
                       {at::zeros({rows, c.tokens}, at::TensorOptions(at::kLong)),
                        at::zeros({rows, c.tokens}), at::ones({rows, c.tokens})}};
  };
  const DeviceBatch all = batch(c.rows);
  const DeviceBatch one = batch(1);
  const std::int64_t before = in_use();
  w.step = peak_above([&] { accumulate(sequence, all, 2.0, c.precision); });
  w.gradients = in_use() - before;
  w.later_step = w.gradients + peak_above([&] { accumulate(sequence, all, 2.0, c.precision); });
  optimizer.zero_grad();
  w.validation = peak_above([&] {
    const at::NoGradGuard no_grad;
    loss_sum(sequence.answer(one.x), one.targets, kHead);
  });
  w.health = peak_above([&] { examine(model, one.x); });
  return w;
}

StepWeight weighed(const Case& c) {
  const Mamba2Hyperparameters hyper = hyper_of(c);
  return weigh_step({.hyper = hyper,
                     .head = kHead,
                     .cuda = false,
                     .rows = c.rows,
                     .tokens = c.tokens,
                     .whole_tokens = c.tokens});
}

class StepWeightOf : public testing::TestWithParam<Case> {};

TEST_P(StepWeightOf, IsWhatTheStepTakes) {
  const Case& c = GetParam();
  const StepWeight expected = measured(c);
  const StepWeight found = weighed(c);
  const auto near = [&c](std::int64_t a, std::int64_t b, const char* what, double tolerance) {
    EXPECT_NEAR(static_cast<double>(a), static_cast<double>(b),
                tolerance * static_cast<double>(b) + 2048.0)
        << c.name << ": " << what;
  };
  near(found.model_and_optimizer, expected.model_and_optimizer, "model and optimiser", 0.0);
  near(found.gradients, expected.gradients, "gradients", 0.0);
  near(found.step, expected.step, "first micro-batch", c.tolerance);
  near(found.later_step, expected.later_step, "later micro-batch", c.tolerance);
  near(found.validation, expected.validation, "validation", c.tolerance);
  near(found.health, expected.health, "health", 0.05);
  EXPECT_GT(found.kept, 0);
  EXPECT_LT(found.kept, found.step);
}

constexpr auto kNative = nn::Kernels::kNative;
constexpr auto kAten = nn::Kernels::kAten;
constexpr auto kFp32 = Precision::kFp32;
constexpr auto kBf16 = Precision::kBf16;
constexpr auto kNone = Recompute::kNone;
constexpr auto kBlocks = Recompute::kBlocks;

INSTANTIATE_TEST_SUITE_P(
    All, StepWeightOf,
    testing::Values(Case{"native", 32, 3, 16, 4, 96, kNative, kFp32, kNone, 0.0},
                    Case{"native, tail of a chunk", 64, 2, 24, 3, 77, kNative, kFp32, kNone, 0.0},
                    Case{"native, bf16", 32, 2, 16, 4, 96, kNative, kBf16, kNone, 0.0},
                    Case{"native, recomputed", 32, 4, 16, 4, 96, kNative, kFp32, kBlocks, 0.0},
                    Case{"aten", 32, 3, 16, 4, 96, kAten, kFp32, kNone, 0.05},
                    Case{"aten, tail of a chunk", 64, 2, 24, 3, 77, kAten, kFp32, kNone, 0.05},
                    Case{"aten, bf16", 32, 2, 16, 4, 96, kAten, kBf16, kNone, 0.05},
                    Case{"aten, recomputed", 32, 4, 16, 4, 96, kAten, kFp32, kBlocks, 0.05}));

TEST(StepWeight, ALayerKeepsWhatItsBlockSavesAndTheResidualBehindIt) {
  const Case c{"", 64, 5, 16, 6, 100, kNative, kFp32, kNone, 0.0};
  const model::Mamba2Config config = hyper_of(c).model;
  const kernels::BlockShape shape{config.d_model, config.norm_eps, nn::mixer_shape(config)};
  EXPECT_EQ(weighed(c).kept_a_layer, kernels::block_saved_bytes(shape, c.rows, c.tokens) +
                                         4 * c.rows * c.tokens * c.d_model);
  const Case again{"", 64, 5, 16, 6, 100, kNative, kFp32, kBlocks, 0.0};
  EXPECT_EQ(weighed(again).kept_a_layer, 4 * c.rows * c.tokens * c.d_model);
}

TEST(StepWeight, OnAGpuSizesAreRoundedUpAndTheBatchCounts) {
  const Case c{"", 32, 2, 16, 4, 96, kNative, kFp32, kNone, 0.0};
  const Mamba2Hyperparameters hyper = hyper_of(c);
  const WeighedStep what{
      .hyper = hyper, .head = kHead, .cuda = true, .rows = 4, .tokens = 96, .whole_tokens = 96};
  const StepWeight w = weigh_step(what);
  EXPECT_EQ(w.gradients % 512, 0);
  EXPECT_EQ(w.step % 512, 0);
  EXPECT_GT(w.update, 0);
  EXPECT_GT(w.step, w.kept);
  // Once more: nothing of the first weighing is left behind.
  EXPECT_EQ(weigh_step(what).step, w.step);
}

}  // namespace
}  // namespace foxhunt::train
