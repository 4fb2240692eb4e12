// The count against the packing itself and against numbers worked out by hand.
#include "foxhunt/contract/step_bytes.h"

#include <gtest/gtest.h>

#include "foxhunt/contract/preset.h"
#include "foxhunt/kernels/step/pack.h"
#include "foxhunt/kernels/step/step_kernels.h"

namespace foxhunt::contract {
namespace {

using bundle::WeightForm;

std::int64_t lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Packed weights alone: pack.h reserves bias, scale and offset behind them.
std::int64_t packed_weights(std::int64_t out, std::int64_t in,
                            const kernels::ProductKernel& kernel) {
  return kernels::packed_bytes(out, in, kernel) - 3 * lines(4 * kernels::padded(out));
}

TEST(StepBytes, CountsWhatThePackingHoldsUnderEveryTableAndForm) {
  const bundle::Bundle bundle = preset_bundle("default_hft", 1, 1000);
  for (const kernels::StepKernels* table : kernels::built_step_kernels()) {
    if (!table->runs_here()) continue;
    for (const WeightForm form :
         {WeightForm::kF32, WeightForm::kF16, WeightForm::kBF16, WeightForm::kI8}) {
      const auto plan = engine::Plan::build(bundle, {.kernels = table->name, .form = form});
      const kernels::StepNetwork& network = plan->network();
      const StepBytes bytes = step_bytes(*plan);
      // D 64, inner 128, 4 heads, N 16: 292 rows of in_proj, 160 channels, 14 features, 3 classes.
      EXPECT_EQ(bytes.projections, 4 * (packed_weights(292, 64, network.projections()) +
                                        packed_weights(64, 128, network.projections())))
          << plan->kernels();
      EXPECT_EQ(bytes.ends,
                packed_weights(64, 14, table->product) + packed_weights(3, 64, table->product));
      // The network's own count of the same, which pads the heads' vectors to 32 and leaves out
      // biases and scales; its window goes both ways whole.
      const std::int64_t heads = 4 * 3 * (128 - 64);
      const std::int64_t window = bytes.window - bytes.window_row;
      EXPECT_EQ(bytes.total(), plan->bytes_per_step() + bytes.vectors - heads - window);
    }
  }
}

TEST(StepBytes, HoldsTheNumbersOfDefaultHftByHand) {
  const auto plan = engine::Plan::build(preset_bundle("default_hft", 1, 1000),
                                        {.kernels = "scalar", .form = WeightForm::kF32});
  const StepBytes bytes = step_bytes(*plan);
  EXPECT_EQ(bytes.state, 4 * 128 * 16 * 4);
  EXPECT_EQ(bytes.window, 4 * 3 * 160 * 4);
  EXPECT_EQ(bytes.window_row, 4 * 160 * 4);
  EXPECT_EQ(bytes.cores, 4 * (5 * 160 * 4 + 3 * 64));
  EXPECT_EQ(bytes.written(), bytes.state + bytes.window_row);
  EXPECT_EQ(bytes.total(), bytes.read() + bytes.written());
  // Every parameter is read at least once: 4 bytes each, of which A_log, D, dt_bias and the norms
  // (folded into the matrices) come in another shape.
  EXPECT_GT(bytes.read() - bytes.state - bytes.window, 4 * (112'755 - 4 * (64 + 128) - 64));
}

TEST(StepBytes, NarrowFormsReadLessAndKeepTheState) {
  const bundle::Bundle bundle = preset_bundle("default_hft", 1, 1000);
  const StepBytes f32 = step_bytes(*engine::Plan::build(bundle, {.form = WeightForm::kF32}));
  const StepBytes bf16 = step_bytes(*engine::Plan::build(bundle, {.form = WeightForm::kBF16}));
  const StepBytes i8 = step_bytes(*engine::Plan::build(bundle, {.form = WeightForm::kI8}));
  EXPECT_EQ(bf16.projections * 2, f32.projections);
  EXPECT_EQ(i8.projections * 4, f32.projections);
  EXPECT_EQ(f32.written(), i8.written());
  EXPECT_GT(i8.vectors, f32.vectors);  // scale and sum of each row
}

}  // namespace
}  // namespace foxhunt::contract
