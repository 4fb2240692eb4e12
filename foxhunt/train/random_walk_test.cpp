#include "foxhunt/train/random_walk.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::train {
namespace {

using bundle::LabelConfig;

TEST(RandomWalk, VarianceOfTheUnknownPartEqualsItsWeights) {
  for (std::int64_t h = 1; h <= 12; ++h) {
    for (std::int64_t k = 1; k <= h; ++k) {
      // Step j (1 .. h) is in the means of closes j .. h, of which the last k count.
      double sum = 0;
      for (std::int64_t j = 1; j <= h; ++j) {
        const double weight = static_cast<double>(std::min(k, h - j + 1)) / static_cast<double>(k);
        sum += weight * weight;
      }
      ASSERT_NEAR(walk_variance(h, k), sum, 1e-12) << h << ' ' << k;
    }
  }
}

TEST(RandomWalk, ForecastEqualsANormalByDrawing) {
  Rng rng(2);
  const WalkForecast f = walk_forecast(0.3, 0.8, 0.5);
  double up = 0, down = 0;
  constexpr int kDraws = 400'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = 0.3 + 0.8 * rng.normal();
    up += x > 0.5;
    down += x < -0.5;
  }
  // Five standard errors of a share.
  EXPECT_NEAR(f.up, up / kDraws, 5 * 0.5 / std::sqrt(kDraws));
  EXPECT_NEAR(f.down, down / kDraws, 5 * 0.5 / std::sqrt(kDraws));
  EXPECT_NEAR(f.up + f.flat + f.down, 1, 1e-15);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-11);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-11);
}

/// By closed form: the known part is a mean of past steps, weights 1/a .. (a-1)/a.
double r2_of(std::int64_t h, std::int64_t past, std::int64_t future) {
  double known = 0;
  for (std::int64_t j = 1; j < past; ++j) {
    const double weight = static_cast<double>(j) / static_cast<double>(past);
    known += weight * weight;
  }
  return known / (known + walk_variance(h, future));
}

TEST(RandomWalk, FloorOfAReturnEqualsItsClosedForm) {
  for (const auto& [past, future] : {std::pair{1, 10}, {10, 10}, {20, 1}}) {
    const LabelConfig config{.kind = bundle::LabelKind::kReturn,
                             .horizon = 10,
                             .scale_return = false,
                             .smooth_future = future,
                             .smooth_past = past};
    // 100,000 labels that overlap ten and more times: some 5,000 of their own, R2 to 3 /
    // sqrt(5000).
    EXPECT_NEAR(walk_floor(config, 7).r2, r2_of(10, past, future), 0.04) << past << ' ' << future;
  }
}

TEST(RandomWalk, AnchoredAtTheCloseASmoothedLabelGivesNothingAway) {
  const LabelConfig anchored{.horizon = 10, .smooth_future = 10};
  const WalkFloor nothing = walk_floor(anchored, 7);
  // Volatility is estimated over 60 bars, so shares are a little off: half a hundredth of a nat.
  EXPECT_NEAR(nothing.accuracy, nothing.majority_accuracy, 0.01);
  EXPECT_GE(nothing.log_loss, nothing.prior_log_loss - 0.005);
  LabelConfig past = anchored;
  past.smooth_past = 10;
  const WalkFloor gift = walk_floor(past, 7);
  EXPECT_GT(gift.accuracy, gift.majority_accuracy + 0.1);
  EXPECT_LT(gift.log_loss, gift.prior_log_loss - 0.1);
  EXPECT_EQ(gift.rows, 100'000 - 60 - 10);
  // The same seed gives the same floor.
  EXPECT_EQ(walk_floor(past, 7).accuracy, gift.accuracy);
  EXPECT_NE(walk_floor(past, 8).accuracy, gift.accuracy);
  EXPECT_NE(walk_floor_text(past, gift, 7).find("seed 7"), std::string::npos);
}

TEST(RandomWalk, PlainLabelsHaveNoFloor) {
  EXPECT_THROW(walk_floor({.horizon = 10}, 7), ConfigError);
}

}  // namespace
}  // namespace foxhunt::train
