#include "foxhunt/kernels/latency_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/model/mamba2_config.h"
#include "foxhunt/model/tensor_list.h"

namespace foxhunt::kernels {
namespace {

using testing::HasSubstr;

Hardware with(std::int64_t l2_bytes, double median, double best) {
  Hardware hardware;
  hardware.l2_bytes = l2_bytes;
  hardware.bandwidth.l2 = {
      .median = median, .best = best, .spread = 0.02, .bytes = l2_bytes / 2, .samples = 99};
  return hardware;
}

TEST(StepCost, CountsTheParametersOfTheModelsOwnTensorList) {
  model::Mamba2Config odd;
  odd.d_model = 27;
  odd.n_layer = 3;
  odd.d_state = 5;
  odd.headdim = 9;
  odd.ngroups = 3;
  odd.d_conv = 3;
  for (const model::Mamba2Config& config :
       {model::Mamba2Config::default_hft(), model::Mamba2Config::standard(), odd}) {
    model::HeadConfig head;
    head.n_features = 21;
    head.n_classes = 5;
    const ModelSizes sizes{.d_model = config.d_model,
                           .n_layer = config.n_layer,
                           .heads = config.n_heads(),
                           .headdim = config.headdim,
                           .d_state = config.d_state,
                           .groups = config.ngroups,
                           .d_conv = config.d_conv,
                           .features = 21,
                           .outputs = 5};
    EXPECT_EQ(step_cost(sizes).parameters, model::parameter_count(config, head)) << config.d_model;
  }
}

TEST(StepCost, OfDefaultHftIsTheKnownOne) {
  const StepCost cost = step_cost(default_hft_sizes());
  EXPECT_EQ(cost.parameters, 113'907);
  // 4 layers of 4 * 32 * 16 and of 160 channels, 4 wide.
  EXPECT_EQ(cost.state_floats, 4 * (2048 + 640));
  EXPECT_EQ(cost.moved_bytes, 4 * 113'907 + 8 * 10'752);
  EXPECT_EQ(cost.resident_bytes, 4 * 113'907 + 4 * 10'752);
}

TEST(DefaultHftSizes, AreThoseOfTheModelsPreset) {
  const model::Mamba2Config config = model::Mamba2Config::default_hft();
  const ModelSizes sizes = default_hft_sizes();
  EXPECT_EQ(sizes.d_model, config.d_model);
  EXPECT_EQ(sizes.n_layer, config.n_layer);
  EXPECT_EQ(sizes.d_inner(), config.d_inner());
  EXPECT_EQ(sizes.channels(), config.conv_channels());
  EXPECT_EQ(sizes.proj_width(), config.in_proj_width());
  EXPECT_EQ(sizes.d_state, config.d_state);
}

TEST(FitOf, IsBytesOverTheRate) {
  // 541,644 bytes: at 178 GB/s 3.04 us, as for the published Xeon.
  const ModelFit fit = fit_of(with(2 << 20, 170.0, 178.0), default_hft_sizes());
  EXPECT_NEAR(fit.floor_us, 541'644 / 178e3, 1e-9);
  EXPECT_NEAR(fit.realistic_us, 541'644 / (170e3 * 0.85), 1e-9);
  EXPECT_GT(fit.realistic_us, fit.floor_us);
  EXPECT_TRUE(fit.in_l2);
  EXPECT_FALSE(fit_of(with(512 << 10, 170.0, 178.0), default_hft_sizes()).in_l2);
}

TEST(FitOf, AModelThatFitsL1HasTheFloorOfL1) {
  Hardware hardware = with(1 << 20, 110.0, 120.0);
  hardware.l1d_bytes = 48 << 10;
  hardware.bandwidth.l1 = {.median = 210, .best = 240, .spread = 0, .bytes = 1, .samples = 9};
  ModelSizes tiny = default_hft_sizes();
  tiny.d_model = 16;
  tiny.heads = 1;
  tiny.n_layer = 1;
  const ModelFit fit = fit_of(hardware, tiny);
  ASSERT_LE(fit.cost.resident_bytes, hardware.l1d_bytes);
  EXPECT_DOUBLE_EQ(fit.floor_us, static_cast<double>(fit.cost.moved_bytes) / 240e3);
  EXPECT_GT(fit.realistic_us, 2 * fit.floor_us) << "the promise stays with L2";
  hardware.bandwidth.l1 = {};
  EXPECT_DOUBLE_EQ(fit_of(hardware, tiny).floor_us,
                   static_cast<double>(fit.cost.moved_bytes) / 120e3);
}

TEST(ModelForBudget, WhatFitsFitsAndTheNextDoesNot) {
  for (const double budget : {0.7, 2.0, 5.0, 20.0}) {
    for (const std::int64_t l2 : {256 << 10, 1 << 20, 4 << 20}) {
      const Hardware hardware = with(l2, 110.0, 120.0);
      const LatencyFit fit = model_for_budget(hardware, budget);
      const auto check = [&](const std::optional<ModelFit>& found, double ModelFit::*time,
                             std::int64_t wider, std::int64_t deeper) {
        if (!found) return;
        EXPECT_LE((*found).*time, budget);
        EXPECT_LE(found->cost.resident_bytes, l2 / 2);
        ModelSizes next = found->sizes;
        next.d_model += wider;
        next.heads = 2 * next.d_model / next.headdim;
        next.n_layer += deeper;
        const ModelFit over = fit_of(hardware, next);
        EXPECT_TRUE(over.*time > budget || !over.in_l2) << budget << " us, L2 " << l2;
      };
      check(fit.widest, &ModelFit::realistic_us, 16, 0);
      check(fit.deepest, &ModelFit::realistic_us, 0, 1);
      check(fit.widest_at_floor, &ModelFit::floor_us, 16, 0);
      check(fit.deepest_at_floor, &ModelFit::floor_us, 0, 1);
      if (budget >= 5.0 && l2 >= 1 << 20) {
        EXPECT_TRUE(fit.widest && fit.deepest) << budget;
      }
    }
  }
}

std::int64_t size_of(const std::optional<ModelFit>& fit) { return fit ? fit->cost.parameters : 0; }

TEST(ModelForBudget, GrowsWithBudgetRateAndCacheAndTheFloorAllowsMore) {
  std::int64_t before = 0;
  for (const double budget : {0.1, 0.5, 1.0, 2.0, 5.0, 50.0}) {
    const LatencyFit fit = model_for_budget(with(1 << 20, 110, 120), budget);
    EXPECT_GE(size_of(fit.widest), before);
    EXPECT_GE(size_of(fit.widest_at_floor), size_of(fit.widest));
    EXPECT_GE(size_of(fit.deepest_at_floor), size_of(fit.deepest));
    before = size_of(fit.widest);
  }
  before = 0;
  for (const double rate : {10.0, 50.0, 110.0, 200.0}) {
    const std::int64_t found = size_of(model_for_budget(with(8 << 20, rate, rate), 5.0).deepest);
    EXPECT_GE(found, before);
    before = found;
  }
  before = 0;
  for (const std::int64_t l2 : {64 << 10, 256 << 10, 1 << 20, 8 << 20}) {
    const std::int64_t found = size_of(model_for_budget(with(l2, 110, 120), 5.0).widest_at_floor);
    EXPECT_GE(found, before);
    before = found;
  }
  EXPECT_GT(before, 0);
}

TEST(ModelForBudget, TheCacheLimitsWhereTheBudgetWouldNot) {
  // A second is enough for anything; half of 1 MiB is not.
  const LatencyFit fit = model_for_budget(with(1 << 20, 110, 120), 1e6);
  ASSERT_TRUE(fit.widest && fit.deepest);
  EXPECT_EQ(fit.widest->sizes, fit.widest_at_floor->sizes);
  EXPECT_EQ(fit.deepest->sizes.n_layer, 4);
  EXPECT_EQ(fit.most_resident_bytes, 512 << 10);
}

TEST(ModelForBudget, NothingFitsABudgetThatIsTooSmall) {
  const LatencyFit fit = model_for_budget(with(1 << 20, 110, 120), 0.01);
  EXPECT_FALSE(fit.widest || fit.deepest || fit.widest_at_floor || fit.deepest_at_floor);
}

TEST(ModelForBudget, UnknownRatesAndCachesAreAssumedAndSaidSo) {
  const LatencyFit fit = model_for_budget({}, 5.0);
  EXPECT_EQ(fit.floor_gb_per_s, 180.0);
  EXPECT_DOUBLE_EQ(fit.realistic_gb_per_s, 153.0);
  EXPECT_EQ(fit.most_resident_bytes, 128 << 10);
  EXPECT_THAT(fit.reason, HasSubstr("180 GB/s assumed"));
  EXPECT_THAT(fit.reason, HasSubstr("256 KiB assumed"));
  EXPECT_THAT(model_for_budget(with(1 << 20, 110, 120), 5.0).reason,
              testing::Not(HasSubstr("assumed")));
}

TEST(ModelForBudget, RefusesABudgetThatIsNone) {
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(model_for_budget({}, bad), UsageError);
}

}  // namespace
}  // namespace foxhunt::kernels
