#include "foxhunt/train/bench_train/order_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "foxhunt/base/rng.h"

namespace foxhunt::train {
namespace {

TEST(OrderStatistics, CoverageOfTheMedianEqualsEveryPatternOfSides) {
  // Each observation lies below the median with 1/2: all 2^n patterns are equally likely.
  for (std::int64_t n = 1; n <= 14; ++n) {
    for (std::int64_t r = 1; r <= (n + 1) / 2; ++r) {
      std::int64_t inside = 0;
      for (std::uint32_t pattern = 0; pattern < (1U << n); ++pattern) {
        const std::int64_t below = std::popcount(pattern);
        inside += below >= r && below <= n - r ? 1 : 0;
      }
      // 1e-9: lgamma has 15 digits, the sum a few terms.
      EXPECT_NEAR(median_coverage(n, r), static_cast<double>(inside) / std::exp2(n), 1e-9)
          << n << " " << r;
    }
  }
  EXPECT_NEAR(median_coverage(6, 1), 1.0 - 2.0 / 64, 1e-12);
}

TEST(OrderStatistics, CoverageOfASecondRunEqualsEveryOrderOfBothRuns) {
  for (int n = 1; n <= 7; ++n) {
    for (int m = 1; m <= 7; m += 2) {  // odd: the median is one of them, and the answer exact
      for (int r = 1; r <= (n + 1) / 2; ++r) {
        std::int64_t orders = 0, inside = 0;
        for (std::uint32_t pattern = 0; pattern < (1U << (n + m)); ++pattern) {
          if (std::popcount(pattern) != m) continue;  // a set bit: an observation of the second run
          ++orders;
          int first = 0, second = 0, low = 0, high = 0, middle = 0;
          for (int place = 0; place < n + m; ++place) {
            if ((pattern >> place & 1U) != 0) {
              if (++second == (m + 1) / 2) middle = place;
            } else {
              ++first;
              if (first == r) low = place;
              if (first == n + 1 - r) high = place;
            }
          }
          inside += low < middle && middle < high ? 1 : 0;
        }
        EXPECT_NEAR(repeat_coverage(n, m, r),
                    static_cast<double>(inside) / static_cast<double>(orders), 1e-9)
            << n << " " << m << " " << r;
      }
    }
  }
}

TEST(OrderStatistics, NineVisitsAreTheFewestWhoseRangeHoldsASecondRunAt95Percent) {
  EXPECT_LT(repeat_coverage(7, 7, 1), 0.95);
  EXPECT_LT(repeat_coverage(8, 8, 1), 0.95);
  EXPECT_GE(repeat_coverage(9, 9, 1), 0.95);
}

TEST(OrderStatistics, ASecondRunFallsIntoTheIntervalAsOftenAsItSays) {
  // Skewed on purpose. 4000 pairs of runs of 11: the share has a deviation of 0.3 %; 1.5 % is five.
  Rng rng(11);
  const auto run = [&rng] {
    std::vector<double> values;
    for (int i = 0; i < 11; ++i) values.push_back(std::exp(rng.normal()));
    return values;
  };
  int inside = 0;
  double level = 0;
  for (int pair = 0; pair < 4000; ++pair) {
    const Figure f = independent_figure(run(), 0.95);
    const double second = median_of(run());
    inside += f.low <= second && second <= f.high ? 1 : 0;
    level = f.level;
  }
  EXPECT_GE(level, 0.95);
  EXPECT_NEAR(inside / 4000.0, level, 0.015);
}

TEST(OrderStatistics, StudentsTWithThreeDegreesHasItsDensity) {
  // By the trapezoid over the density 2 / (pi sqrt(3) (1 + t^2 / 3)^2), 2e5 strips: 1e-9 is their
  // error.
  for (const double x : {0.5, 1.0, 3.182446, 10.0}) {
    constexpr int kStrips = 200'000;
    const double h = x / kStrips;
    double sum = 0;
    for (int i = 0; i <= kStrips; ++i) {
      const double t = h * i;
      const double density = 2.0 / (std::numbers::pi * std::sqrt(3.0) * std::pow(1 + t * t / 3, 2));
      sum += (i == 0 || i == kStrips ? 0.5 : 1.0) * density * h;
    }
    EXPECT_NEAR(student3_coverage(x), 2 * sum, 1e-9) << x;
  }
}

TEST(OrderStatistics, GroupsAreOfNeighboursAndTheirSpreadSetsTheInterval) {
  // Group medians e^0, e^0, e^2, e^2: mean 1, s = 2 / sqrt(3), so half is t sqrt(2 / 3).
  const double e2 = std::exp(2.0);
  const Figure f = grouped_figure({1, 1, 1, 1, e2, e2, e2, e2}, student3_coverage(3));
  EXPECT_NEAR(std::log(f.low), 1 - 3 * std::sqrt(2.0 / 3), 1e-9);
  EXPECT_NEAR(std::log(f.high), 1 + 3 * std::sqrt(2.0 / 3), 1e-9);
  // The same values mixed: groups alike, no spread.
  const Figure mixed = grouped_figure({1, e2, 1, e2, e2, 1, e2, 1}, 0.95);
  EXPECT_NEAR(mixed.high / mixed.low, 1, 1e-9);
  // The wider of both stands.
  EXPECT_NEAR(repeatable_figure({1, e2, 1, e2, e2, 1, e2, 1}, 0.95).high, e2, 1e-12);
  EXPECT_EQ(repeatable_figure({1, 1, 1, 1, e2, e2, e2}, 0.95).high, e2);    // too few for groups
  EXPECT_EQ(repeatable_figure({0, 1, 1, 1, e2, e2, e2, e2}, 0.95).low, 0);  // no logarithm
}

TEST(OrderStatistics, AFigureTakesTheNarrowestIntervalThatKeepsItsLevel) {
  const Figure f = median_figure({5, 1, 4, 2, 3, 6, 9, 8, 7, 10}, 0.95);
  EXPECT_EQ(f.value, 5.5);
  EXPECT_EQ(f.low, 2);  // r = 2: 1 - 2 (1 + 10) / 1024; r = 3 has 0.89
  EXPECT_EQ(f.high, 9);
  EXPECT_NEAR(f.level, 1 - 22.0 / 1024, 1e-12);
  EXPECT_NEAR(f.width_share(), 7 / 5.5, 1e-12);
}

TEST(OrderStatistics, FewObservationsGetTheirRangeAndTheLevelThatItHas) {
  const Figure three = median_figure({3, 1, 2}, 0.95);
  EXPECT_EQ(three.low, 1);
  EXPECT_EQ(three.high, 3);
  EXPECT_NEAR(three.level, 0.75, 1e-12);
  EXPECT_EQ(median_figure({4}, 0.95).level, 0);
  EXPECT_TRUE(std::isnan(median_figure({}, 0.95).value));
}

TEST(OrderStatistics, QuantilesAreObservations) {
  const std::vector<double> sorted{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(quantile_of(sorted, 0.05), 1);
  EXPECT_EQ(quantile_of(sorted, 0.5), 5);
  EXPECT_EQ(quantile_of(sorted, 0.95), 10);
  EXPECT_EQ(quantile_of({7}, 0.95), 7);
}

}  // namespace
}  // namespace foxhunt::train
