#include "foxhunt/latency/tsc_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/latency/core_clock.h"

namespace foxhunt::latency {
namespace {

TEST(TscClock, RefusesACounterWhoseRateChangesAndACpuWithoutOne) {
  EXPECT_NO_THROW(require_tsc({.rdtscp = true, .invariant = true}));
  EXPECT_THROW(require_tsc({.rdtscp = true, .invariant = false}), DeviceError);
  EXPECT_THROW(require_tsc({.rdtscp = false, .invariant = true}), DeviceError);
  EXPECT_THROW(TscClock(0.0), DeviceError);
  EXPECT_THROW(TscClock(std::nan("")), DeviceError);
}

TEST(TscClock, TheRateBetweenTwoBracketsIsWithinTheErrorItStates) {
  Rng rng(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const double rate = rng.uniform(0.5, 5.0);  // ticks a ns
    const auto bracket_at = [&](double ns) {
      // The steady clock is read anywhere between the two readings of the counter.
      const double before = rng.uniform(0.0, 200.0);
      const double after = rng.uniform(0.0, 200.0);
      return ClockBracket{.ticks_before = static_cast<std::uint64_t>(ns * rate - before + 1e12),
                          .ticks_after = static_cast<std::uint64_t>(ns * rate + after + 1e12),
                          .steady_ns = static_cast<std::int64_t>(ns)};
    };
    const double length = rng.uniform(1e4, 1e8);
    const TscClock clock = clock_between(bracket_at(1000.0), bracket_at(1000.0 + length));
    EXPECT_LE(std::abs(clock.ticks_per_ns() / rate - 1.0),
              // 2 ticks: those of the brackets are whole numbers here, rounded down.
              clock.relative_error() + 2.0 / (length * rate));
    EXPECT_LE(clock.relative_error(),
              (200.0 / rate * rate + 200.0) / (length * rate) + 2.0 / length);
  }
}

TEST(TscClock, AReadingInTheMiddleOfItsBracketGivesTheRateExactly) {
  const TscClock clock =
      clock_between({.ticks_before = 90, .ticks_after = 110, .steady_ns = 7},
                    {.ticks_before = 2580, .ticks_after = 2620, .steady_ns = 1007});
  EXPECT_DOUBLE_EQ(clock.ticks_per_ns(), 2.5);
  EXPECT_DOUBLE_EQ(clock.relative_error(), 30.0 / 2500.0 + 1.0 / 1000.0);
  EXPECT_DOUBLE_EQ(clock.us(2500), 1.0);
  EXPECT_EQ(clock.ticks(1.0), 3U);  // 2.5, rounded
  EXPECT_EQ(clock.ticks(400.0), 1000U);
}

TEST(TscClock, RefusesClocksThatStandStillOrRunBack) {
  const ClockBracket first{.ticks_before = 100, .ticks_after = 120, .steady_ns = 50};
  ClockBracket last{.ticks_before = 200, .ticks_after = 220, .steady_ns = 50};
  EXPECT_THROW(clock_between(first, last), DeviceError);
  last = {.ticks_before = 110, .ticks_after = 220, .steady_ns = 60};
  EXPECT_THROW(clock_between(first, last), DeviceError);
}

TEST(TscClock, RunsWithTheSteadyClockOfThisMachine) {
  if (!tsc_facts().invariant || !tsc_facts().rdtscp) {
    GTEST_SKIP() << "the time-stamp counter of this CPU is not invariant";
  }
  const TscClock clock = calibrate_tsc(0.05);
  EXPECT_GT(clock.pair_ns(), 0.0);
  EXPECT_LT(clock.relative_error(), 0.01);
  double ratio = 0.0;
  // A stall between the readings of the two clocks is charged to one of them: once without is
  // enough.
  for (int trial = 0; trial < 20 && !(ratio > 0.99 && ratio < 1.01); ++trial) {
    const auto start = std::chrono::steady_clock::now();
    const std::uint64_t ticks = read_tsc();
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(5)) {
    }
    const double ns = clock.ns(read_tsc() - ticks);
    const std::chrono::duration<double, std::nano> steady =
        std::chrono::steady_clock::now() - start;
    ratio = ns / steady.count();
  }
  EXPECT_NEAR(ratio, 1.0, 0.01);
}

TEST(CoreClock, IsAFrequencyThatACpuCanHave) {
  if (!tsc_facts().invariant) GTEST_SKIP() << "the time-stamp counter is not invariant";
  const CoreClock core = measure_core_clock(calibrate_tsc(0.02), 101);
  EXPECT_GT(core.median_ghz, 0.1);  // stalls make it low, nothing makes it high
  EXPECT_LT(core.median_ghz, 8.0);
  EXPECT_GE(core.best_ghz, core.median_ghz);
}

}  // namespace
}  // namespace foxhunt::latency
