#include "foxhunt/nn/performance.h"

#include <gtest/gtest.h>

#include "foxhunt/model/tensor_list.h"

namespace foxhunt::nn {
namespace {

TEST(StepCost, CountsTheHftPresetByHand) {
  const auto cost = step_cost(model::Mamba2Config::default_hft(), model::HeadConfig{}, 4);
  EXPECT_EQ(cost.parameters,
            model::parameter_count(model::Mamba2Config::default_hft(), model::HeadConfig{}));
  // Four layers of 4 * 32 * 16 state values and 160 * 4 of the convolution's window.
  EXPECT_EQ(cost.state_values, 4 * (4 * 32 * 16 + 160 * 4));
  EXPECT_EQ(cost.bytes_per_step, 4 * (cost.parameters + 2 * cost.state_values));
  // The projections alone are two flops a weight.
  EXPECT_GT(cost.flops_per_step, 2 * 4 * (292 * 64 + 64 * 128));
  EXPECT_LT(cost.flops_per_step, 3 * 4 * (292 * 64 + 64 * 128));
}

TEST(StepCost, ATokenModelReadsOneRowOfAnUntiedEmbedding) {
  model::HeadConfig head;
  head.kind = model::HeadKind::kTokens;
  head.n_features = 1000;
  const auto tied = step_cost(model::Mamba2Config{}, head, 4);
  head.tied = false;
  const auto untied = step_cost(model::Mamba2Config{}, head, 4);
  EXPECT_EQ(untied.parameters - tied.parameters, 1000 * 64);
  EXPECT_EQ(untied.bytes_per_step - tied.bytes_per_step, 4 * 64);
}

TEST(LatencyRecorder, GivesNearestRankPercentiles) {
  LatencyRecorder recorder;
  EXPECT_EQ(recorder.percentile_us(0.5), 0.0);
  EXPECT_EQ(recorder.mean_us(), 0.0);
  for (std::int64_t i = 100; i >= 1; --i) recorder.record(i * 1000);
  EXPECT_EQ(recorder.count(), 100);
  EXPECT_EQ(recorder.percentile_us(0.5), 50.0);
  EXPECT_EQ(recorder.percentile_us(0.99), 99.0);
  EXPECT_EQ(recorder.percentile_us(1.0), 100.0);
  EXPECT_EQ(recorder.percentile_us(0.0), 1.0);
  EXPECT_EQ(recorder.mean_us(), 50.5);
}

TEST(LatencyRecorder, KeepsTheLatestOnly) {
  LatencyRecorder recorder;
  for (std::size_t i = 0; i < LatencyRecorder::kWindow; ++i) recorder.record(1'000'000);
  for (std::size_t i = 0; i < LatencyRecorder::kWindow; ++i) recorder.record(2'000);
  EXPECT_EQ(recorder.percentile_us(1.0), 2.0);
  EXPECT_EQ(recorder.count(), static_cast<std::int64_t>(2 * LatencyRecorder::kWindow));
}

}  // namespace
}  // namespace foxhunt::nn
