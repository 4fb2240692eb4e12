#include "foxhunt/evaluation/resampling/deflation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "foxhunt/base/rng.h"

namespace foxhunt::evaluation {
namespace {

double phi(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

/// Mean of the largest of n standard normals, by Simpson's rule over x d(Phi(x)^n): a second
/// implementation that knows nothing of the approximation.
double exact_best(int n) {
  const auto density = [n](double x) {
    const double normal = std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
    return x * n * std::pow(phi(x), n - 1) * normal;
  };
  constexpr int kSteps = 4000;
  constexpr double kLo = -10, kHi = 10, kStep = (kHi - kLo) / kSteps;
  double sum = density(kLo) + density(kHi);
  for (int i = 1; i < kSteps; ++i) sum += density(kLo + i * kStep) * (i % 2 == 1 ? 4 : 2);
  return sum * kStep / 3;
}

TEST(Deflation, TheExpectedBestIsThatOfSoManyNormals) {
  EXPECT_EQ(expected_best(0), 0.0);
  EXPECT_EQ(expected_best(1), 0.0);
  EXPECT_NEAR(exact_best(2), 1 / std::sqrt(std::acos(-1.0)), 1e-9) << "the oracle's closed form";
  EXPECT_NEAR(expected_best(2), exact_best(2), 0.05);  // the approximation's own error, stated
  for (const int n : {3, 5, 10, 30, 100, 1000, 10000})
    EXPECT_NEAR(expected_best(n), exact_best(n), 0.04) << n;
}

TEST(Deflation, TheExpectedBestIsThatOfSimulatedMaxima) {
  Rng rng(11);
  for (const int n : {5, 20, 100}) {
    double sum = 0;
    constexpr int kRounds = 4000;
    for (int round = 0; round < kRounds; ++round) {
      double best = -1e9;
      for (int i = 0; i < n; ++i) best = std::max(best, rng.normal());
      sum += best;
    }
    // 0.04 the formula's, and four standard errors of the simulated mean (each maximum varies by
    // 0.7 at most).
    EXPECT_NEAR(expected_best(n), sum / kRounds, 0.04 + 4 * 0.7 / std::sqrt(kRounds)) << n;
  }
}

TEST(Deflation, GrowsWithEveryLook) {
  double last = 0;
  for (std::int64_t n = 2; n < 400; ++n) {
    EXPECT_GT(expected_best(n), last) << n;
    last = expected_best(n);
  }
  EXPECT_TRUE(std::isfinite(expected_best(std::int64_t{1} << 60)));
}

TEST(Deflation, OneLookChangesNothing) {
  const Deflated d = deflate(Value::of(0.02), Value::of(0.01), 1);
  EXPECT_EQ(*d.chance, 0.0);
  EXPECT_EQ(*d.deflated, 0.02);
  EXPECT_NEAR(*d.probability, phi(2), 1e-12);
}

TEST(Deflation, TakesOffWhatTheBestShowsByChance) {
  const Deflated d = deflate(Value::of(0.02), Value::of(0.01), 50);
  EXPECT_NEAR(*d.chance, 0.01 * expected_best(50), 1e-15);
  EXPECT_NEAR(*d.deflated, 0.02 - *d.chance, 1e-15);
  EXPECT_NEAR(*d.probability, phi(2 - expected_best(50)), 1e-12);
  EXPECT_LT(*d.probability, 0.5) << "two standard errors are less than chance finds among fifty";
}

// Where there is no edge, half of all searches end below chance and half above: what a probability
// of one half says. The approximate mean of a skewed maximum lies a little above its median.
TEST(Deflation, WithoutAnEdgeTheBestOfAnyNumberIsWorthAboutOneHalf) {
  Rng rng(12);
  for (const int n : {1, 10, 100}) {
    double sum = 0;
    constexpr int kRounds = 2000;
    for (int round = 0; round < kRounds; ++round) {
      double best = -1e9;
      for (int i = 0; i < n; ++i) best = std::max(best, rng.normal());
      sum += *deflate(Value::of(best), Value::of(1.0), n).probability;
    }
    EXPECT_NEAR(sum / kRounds, 0.5, 0.05) << n;  // 0.03 by the skew, 0.02 by 2000 rounds
  }
}

TEST(Deflation, WhatIsUndefinedStaysSoWithItsReason) {
  const Deflated a = deflate(Value::undefined("no baseline"), Value::of(0.1), 3);
  EXPECT_FALSE(a.deflated);
  EXPECT_STREQ(a.probability.reason(), "no baseline");
  const Deflated b = deflate(Value::of(0.1), Value::undefined("too few blocks"), 3);
  EXPECT_STREQ(b.probability.reason(), "too few blocks");
  EXPECT_FALSE(b.chance);
  EXPECT_FALSE(deflate(Value::of(0.1), Value::of(0.0), 3).probability);
}

}  // namespace
}  // namespace foxhunt::evaluation
