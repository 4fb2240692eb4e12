#include "foxhunt/evaluation/resampling/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/evaluation/metrics/ranks.h"
#include "foxhunt/evaluation/resampling/block_length.h"

namespace foxhunt::evaluation {
namespace {

Statistic mean_of(const std::vector<double>& values) {
  return [&values](Weights w, std::span<Value> out) { out[0] = mean(values, w); };
}

/// x[i] = phi x[i-1] + e with unit variance, mean 0.
std::vector<double> autoregression(Rng& rng, std::size_t n, double phi) {
  std::vector<double> x(n);
  double last = rng.normal();
  for (double& v : x) v = last = phi * last + std::sqrt(1 - phi * phi) * rng.normal();
  return x;
}

/// The share of simulated series whose interval at 95 % holds the true mean 0.
double coverage_of_the_mean(std::size_t n, double phi, int simulations,
                            std::size_t length_or_rule) {
  Rng rng(17);
  int held = 0;
  for (int s = 0; s < simulations; ++s) {
    const std::vector<double> x = autoregression(rng, n, phi);
    const std::size_t length = length_or_rule > 0 ? length_or_rule : automatic_block_length(x);
    const auto replicates = bootstrap(BlockResampler::circular(n, length), 400, 1, mean_of(x), rng);
    held += interval(replicates, 0, 0.95).contains(0) ? 1 : 0;
  }
  return static_cast<double>(held) / simulations;
}

TEST(BlockResampler, DrawsWholeBlocksOfNeighbours) {
  Rng rng(1);
  const BlockResampler rows = BlockResampler::circular(100, 10);
  EXPECT_EQ(rows.n_blocks(), 10U);
  std::vector<double> w(100);
  for (int round = 0; round < 50; ++round) {
    rows.draw(rng, w);
    EXPECT_EQ(std::accumulate(w.begin(), w.end(), 0.0), 100);
    // Ten blocks begin at most ten times: going round, the weight rises at most ten times.
    int rises = 0;
    for (std::size_t i = 0; i < 100; ++i) rises += w[i] > w[(i + 99) % 100] ? 1 : 0;
    EXPECT_LE(rises, 10);
    EXPECT_GE(rises, 1);
  }
}

TEST(BlockResampler, DrawsEveryRowEquallyOftenAlsoAtTheEnds) {
  Rng rng(2);
  const BlockResampler rows =
      BlockResampler::circular(20, 6);  // the last block of a resample is cut to 2
  std::vector<double> w(20);
  std::vector<double> sum(20, 0.0);
  const int rounds = 20'000;
  for (int r = 0; r < rounds; ++r) {
    rows.draw(rng, w);
    for (std::size_t i = 0; i < 20; ++i) sum[i] += w[i];
  }
  // The sd of one weight is about 1, so that 5 sd of its mean are 5 / sqrt(rounds) = 0.035.
  for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(sum[i] / rounds, 1, 0.035) << i;
}

TEST(BlockResampler, DrawsWholeSessions) {
  Rng rng(3);
  const BlockResampler rows = BlockResampler::groups(10, {0, 3, 4});
  EXPECT_EQ(rows.n_blocks(), 3U);
  std::vector<double> w(10);
  for (int round = 0; round < 20; ++round) {
    rows.draw(rng, w);
    EXPECT_EQ(w[0], w[2]);
    EXPECT_EQ(w[4], w[9]);
    EXPECT_EQ(w[0] + w[3] + w[4], 3);
  }
  EXPECT_THROW(BlockResampler::groups(10, {1, 3}), ShapeError);
  EXPECT_THROW(BlockResampler::groups(10, {0, 3, 3}), ShapeError);
  EXPECT_THROW(BlockResampler::groups(10, {0, 10}), ShapeError);
  EXPECT_THROW(BlockResampler::groups(0, {}), ShapeError);
  EXPECT_THROW(BlockResampler::circular(0, 1), ShapeError);
  EXPECT_THROW(BlockResampler::circular(5, 0), ShapeError);
}

TEST(Interval, OfAConstantIsAPoint) {
  Rng rng(4);
  const std::vector<double> x(100, 0.25);
  const auto replicates = bootstrap(BlockResampler::circular(100, 5), 200, 1, mean_of(x), rng);
  const Interval i = interval(replicates, 0, 0.95);
  EXPECT_EQ(*i.lo, 0.25);
  EXPECT_EQ(*i.hi, 0.25);
}

TEST(Interval, DependsOnTheSeedAndOnNothingElse) {
  Rng data(5);
  const std::vector<double> x = autoregression(data, 300, 0.5);
  const auto run = [&](std::uint64_t seed) {
    Rng rng(seed);
    return interval(bootstrap(BlockResampler::circular(300, 8), 500, 1, mean_of(x), rng), 0, 0.95);
  };
  EXPECT_EQ(*run(1).lo, *run(1).lo);
  EXPECT_EQ(*run(1).hi, *run(1).hi);
  EXPECT_NE(*run(1).lo, *run(2).lo);
}

TEST(Interval, IsUndefinedWithReasonWhereTheRowsSayTooLittle) {
  Rng rng(6);
  const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8};
  const auto few = bootstrap(BlockResampler::circular(8, 2), 100, 1, mean_of(x), rng);
  EXPECT_STREQ(interval(few, 0, 0.95).lo.reason(), "too few blocks of rows for an interval");
  const Statistic half = [&](Weights w, std::span<Value> out) {
    out[0] = w[0] > 0 ? Value::of(1) : Value::undefined("row 0 was not drawn");
  };
  const auto gaps = bootstrap(BlockResampler::circular(8, 1), 100, 1, half, rng);
  EXPECT_STREQ(interval(gaps, 0, 0.95).hi.reason(), "undefined in too many resamples");
  EXPECT_THROW(interval(bootstrap(BlockResampler::circular(8, 1), 10, 1, mean_of(x), rng), 0, 1.5),
               ShapeError);
}

TEST(Interval, LeavesOutTheSharesThatTheFewBlocksAllow) {
  // Resamples 0, 1, … 999: a quantile is its share of 999. With ten blocks, t(9) at 0.975
  // is 2.262157 and the share Phi(-2.262157 sqrt(10 / 9)) = 0.0085506; with very many it is 0.025
  // again.
  Rng rng(9);
  const auto run = [&](std::size_t n_rows) {
    const Statistic counted = [n = -1.0](Weights, std::span<Value> out) mutable {
      out[0] = Value::of(n += 1);
    };
    return interval(bootstrap(BlockResampler::circular(n_rows, 1), 1000, 1, counted, rng), 0, 0.95);
  };
  EXPECT_NEAR(*run(10).lo, 0.0085506 * 999, 1e-3);
  EXPECT_NEAR(*run(10).hi, (1 - 0.0085506) * 999, 1e-3);
  EXPECT_NEAR(*run(5000).lo, 0.025 * 999, 0.05);
}

TEST(ReflectedInterval, TakesOffTheNoiseThatTheValueAlreadyHolds) {
  // Resamples of 0.101 to 0.199.
  Rng rng(8);
  const Statistic counted = [n = 0.0](Weights, std::span<Value> out) mutable {
    out[0] = Value::of(0.1 + (n += 0.001));
  };
  const auto replicates = bootstrap(BlockResampler::circular(100, 1), 99, 1, counted, rng);
  const Interval plain = interval(replicates, 0, 0.9);
  const Interval reflected = reflected_interval(replicates, 0, 0.9, 0.15);
  EXPECT_DOUBLE_EQ(*reflected.hi, 0.30 - *plain.lo);
  EXPECT_DOUBLE_EQ(*reflected.lo, 0.30 - *plain.hi);
  EXPECT_EQ(*reflected_interval(replicates, 0, 0.9, 0.05).lo, 0);
}

TEST(DifferenceInterval, UsesTheSameRowsForBothSides) {
  // b is a plus a tenth: apart, each swings by far more than a tenth; paired, the difference does
  // not swing at all.
  Rng rng(7);
  const std::vector<double> a = autoregression(rng, 200, 0.3);
  std::vector<double> b = a;
  for (double& v : b) v += 0.1;
  const Statistic both = [&](Weights w, std::span<Value> out) {
    out[0] = mean(a, w);
    out[1] = mean(b, w);
  };
  const auto replicates = bootstrap(BlockResampler::circular(200, 5), 300, 2, both, rng);
  const Interval difference = difference_interval(replicates, 1, 0, 0.95);
  EXPECT_NEAR(*difference.lo, 0.1, 1e-12);
  EXPECT_NEAR(*difference.hi, 0.1, 1e-12);
  const Interval alone = interval(replicates, 0, 0.95);
  EXPECT_GT(*alone.hi - *alone.lo, 0.2);
}

// 400 simulations: one standard error of a share of 0.95 is 0.011, so 0.03 is about three of them.
TEST(Coverage, OfTheMeanOfIndependentRowsIsNominal) {
  EXPECT_NEAR(coverage_of_the_mean(200, 0.0, 400, 1), 0.95, 0.03);
}

TEST(Coverage, OfTheMeanOfDependentRowsIsNearNominalWithTheAutomaticLength) {
  // Block bootstraps keep a bias at finite N: a little below nominal is what theory says, too.
  const double held = coverage_of_the_mean(1000, 0.6, 400, 0);
  EXPECT_GT(held, 0.90);
  EXPECT_LT(held, 0.98);
}

TEST(Coverage, FailsOnDependentRowsWhenBlocksAreIgnored) {
  // Var of the mean is (1 + 0.6) / (1 - 0.6) = 4 times that of independent rows: an interval half
  // as wide as it should be covers 2 Phi(0.98) - 1 = 0.67.
  EXPECT_NEAR(coverage_of_the_mean(1000, 0.6, 200, 1), 0.67, 0.1);
}

TEST(Coverage, WithFewBlocksStaysNearNominalBecauseTheIntervalIsWidened) {
  // Ten blocks of ten independent rows; the plain percentile interval covers 0.91 here. 2,000
  // simulations: one standard error is 0.005.
  EXPECT_NEAR(coverage_of_the_mean(100, 0.0, 2000, 10), 0.95, 0.02);
}

TEST(Coverage, LongOfARankCorrelationOfDependentRowsIsNearNominal) {
  // Two series with autocorrelation 0.5 each and correlation 0.3; Spearman's of a normal pair is
  // 6/pi asin(0.15).
  Rng rng(23);
  const double truth = 6 / M_PI * std::asin(0.15);
  const std::size_t n = 800;
  const int simulations = 400;
  int held = 0;
  for (int s = 0; s < simulations; ++s) {
    const std::vector<double> x = autoregression(rng, n, 0.5);
    std::vector<double> y = autoregression(rng, n, 0.5);
    for (std::size_t i = 0; i < n; ++i) y[i] = 0.3 * x[i] + std::sqrt(1 - 0.09) * y[i];
    const Ordering by_x(x);
    const Ordering by_y(y);
    const Statistic ic = [&](Weights w, std::span<Value> out) { out[0] = spearman(by_x, by_y, w); };
    const auto replicates = bootstrap(BlockResampler::circular(n, 12), 400, 1, ic, rng);
    held += interval(replicates, 0, 0.95).contains(truth) ? 1 : 0;
  }
  const double share = static_cast<double>(held) / simulations;
  EXPECT_GT(share, 0.91);
  EXPECT_LT(share, 0.98);
}

}  // namespace
}  // namespace foxhunt::evaluation
