// Step sizes counted on the way against the sorted list of them.
#include "foxhunt/nn/step_size_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "foxhunt/base/rng.h"

namespace foxhunt::nn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(StepSizeCounts, PercentilesAreThoseOfTheSortedListToHalfAPercent) {
  Rng rng(1);
  StepSizeCounts counts(0, kInfinity);
  std::vector<double> all;
  for (int i = 0; i < 5000; ++i) {
    all.push_back(std::exp(rng.uniform(std::log(1e-7), std::log(50.0))));
    counts.add(all.back());
  }
  std::sort(all.begin(), all.end());
  const StepSizes steps = counts.result();
  const auto ranked = [&](double q) {
    return all[static_cast<std::size_t>(std::ceil(q * 5000.0)) - 1];
  };
  // Bins are 1 % wide: their middle lies within 0.5 % and a little of every member.
  EXPECT_NEAR(steps.p10 / ranked(0.1), 1, 0.0051);
  EXPECT_NEAR(steps.median / ranked(0.5), 1, 0.0051);
  EXPECT_NEAR(steps.p90 / ranked(0.9), 1, 0.0051);
  EXPECT_EQ(steps.min, all.front());
  EXPECT_EQ(steps.max, all.back());
  EXPECT_EQ(steps.at_limits, 0);
}

TEST(StepSizeCounts, OneValueIsEveryPercentile) {
  StepSizeCounts counts(0, kInfinity);
  for (int i = 0; i < 10; ++i) counts.add(0.037);
  const StepSizes steps = counts.result();
  for (const double value : {steps.min, steps.p10, steps.median, steps.p90, steps.max})
    EXPECT_EQ(value, 0.037);
  EXPECT_NEAR(counts.mean(), 0.037, 1e-16);
}

TEST(StepSizeCounts, CountsWhatLiesAtOrBeyondALimit) {
  StepSizeCounts counts(0.01, 1.0);
  for (const double dt : {0.01, 0.02, 0.5, 1.0, 0.99, 0.0100001, 0.005, 2.0}) counts.add(dt);
  EXPECT_EQ(counts.result().at_limits, 0.5);
  EXPECT_EQ(counts.count(), 8);
}

TEST(StepSizeCounts, HoldsNothingTheSmallestAndTheLargest) {
  EXPECT_EQ(StepSizeCounts(0, 1).result().max, 0);
  EXPECT_EQ(StepSizeCounts(0, 1).mean(), 0);
  StepSizeCounts counts(0, kInfinity);
  counts.add(0);
  counts.add(1e9);
  counts.add(1e9);
  EXPECT_EQ(counts.result().min, 0);
  EXPECT_EQ(counts.result().max, 1e9);
  EXPECT_LE(counts.result().p10, 1e-11);  // the lowest bin
  EXPECT_EQ(counts.result().at_limits, 1.0 / 3);
}

}  // namespace
}  // namespace foxhunt::nn
