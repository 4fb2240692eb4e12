#include "foxhunt/latency/hiccup.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace foxhunt::latency {
namespace {

const TscClock kTwoGhz(2.0);

TEST(HiccupWatch, CountsGapsAboveTheThresholdAndNothingElse) {
  HiccupWatch watch(1000, 2000);  // 1 us
  std::uint64_t now = 1000;
  for (const std::uint64_t gap : {20U, 2000U, 2001U, 30U, 70000U, 1999U}) watch.see(now += gap);
  const HiccupStats stats = watch.stats(kTwoGhz);
  EXPECT_EQ(stats.stalls, 2);
  EXPECT_DOUBLE_EQ(stats.largest_us, 35.0);
  EXPECT_DOUBLE_EQ(stats.stalled_us, (2001.0 + 70000.0) / 2000.0);
  EXPECT_DOUBLE_EQ(stats.mean_stall_us(), stats.stalled_us / 2.0);
  EXPECT_DOUBLE_EQ(stats.watched_us, static_cast<double>(now - 1000) / 2000.0);
}

TEST(HiccupWatch, TimeSpentOnSomethingElseIsNeitherAStallNorWatched) {
  HiccupWatch watch(0, 2000);
  watch.see(100);
  watch.look_away_until(900100);
  watch.see(900200);
  const HiccupStats stats = watch.stats(kTwoGhz);
  EXPECT_EQ(stats.stalls, 0);
  EXPECT_DOUBLE_EQ(stats.watched_us, 0.1);
}

TEST(HiccupStats, MergedWatchesAreSummed) {
  HiccupStats sum{.watched_us = 5e5, .stalls = 3, .stalled_us = 90.0, .largest_us = 50.0};
  sum.merge({.watched_us = 5e5, .stalls = 1, .stalled_us = 70.0, .largest_us = 70.0});
  sum.merge({});
  EXPECT_DOUBLE_EQ(sum.stalls_per_s(), 4.0);
  EXPECT_DOUBLE_EQ(sum.largest_us, 70.0);
  EXPECT_DOUBLE_EQ(sum.mean_stall_us(), 40.0);
}

TEST(HiccupStats, TheBoundOfTheRateIsTheOneFromWhichSoFewStallsAreFivePercentLikely) {
  // After none: -ln 0.05 a watched second.
  HiccupStats none{.watched_us = 1e6};
  EXPECT_NEAR(none.stalls_per_s_bound(), -std::log(0.05), 1e-9);
  none.watched_us = 1e4;
  EXPECT_NEAR(none.stalls_per_s_bound(), -100.0 * std::log(0.05), 1e-7);
  // After some: the Poisson sum itself says so.
  for (const std::int64_t stalls : {1, 5, 100}) {
    const HiccupStats some{.watched_us = 2e6, .stalls = stalls};
    const double mean = 2.0 * some.stalls_per_s_bound();
    double term = std::exp(-mean);
    double likely = 0.0;
    for (std::int64_t k = 0; k <= stalls; ++k) {
      likely += term;
      term *= mean / static_cast<double>(k + 1);
    }
    EXPECT_NEAR(likely, 0.05, 1e-9);
    EXPECT_GT(some.stalls_per_s_bound(), some.stalls_per_s());
  }
}

TEST(HiccupStats, WithoutAWatchTheRateIsUnbounded) {
  EXPECT_EQ(HiccupStats{}.stalls_per_s(), 0.0);
  EXPECT_EQ(HiccupStats{}.stalls_per_s_bound(), std::numeric_limits<double>::infinity());
}

TEST(Hiccup, AWatchOnThisMachineLastsAsLongAsAsked) {
  if (!tsc_facts().invariant) GTEST_SKIP() << "the time-stamp counter is not invariant";
  const TscClock clock = calibrate_tsc(0.02);
  const HiccupStats stats = watch_for_hiccups(clock, 0.02);
  EXPECT_GE(stats.watched_us, 0.02e6 * 0.999);  // rounding to ticks
  EXPECT_GE(stats.largest_us, stats.stalls > 0 ? kStallUs : 0.0);
  EXPECT_LE(stats.stalled_us, stats.watched_us);
}

}  // namespace
}  // namespace foxhunt::latency
