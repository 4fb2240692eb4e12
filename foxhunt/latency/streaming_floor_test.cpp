#include "foxhunt/latency/streaming_floor.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foxhunt::latency {
namespace {

StreamingFloor floor_of(double load_us, double fma_us) {
  StreamingFloor floor{.bytes = 540 << 10, .fastest = {}, .contenders = {}};
  floor.contenders = {{.name = "load", .median_us = load_us, .best_us = load_us * 0.9},
                      {.name = "fma", .median_us = fma_us, .best_us = fma_us * 0.9}};
  floor.floor_us = load_us < fma_us ? load_us : fma_us;
  floor.fastest = load_us < fma_us ? "load" : "fma";
  floor.best_us = floor.floor_us * 0.9;
  floor.gb_per_s = static_cast<double>(floor.bytes) / (floor.floor_us * 1e3);
  return floor;
}

TEST(StreamingFloor, AStepBelowItIsABrokenBenchmark) {
  const StreamingFloor floor = floor_of(3.0, 3.1);
  const double limit = 3.0 * 0.9 * (1.0 - kFloorTolerance);
  EXPECT_NO_THROW(check_against_floor(3.0, floor));
  EXPECT_NO_THROW(check_against_floor(limit + 1e-9, floor));
  EXPECT_THROW(check_against_floor(limit - 1e-9, floor), BrokenBenchmarkError);
  EXPECT_THROW(check_against_floor(0.0, floor), BrokenBenchmarkError);
  EXPECT_THROW(check_against_floor(std::nan(""), floor), BrokenBenchmarkError);
  EXPECT_THROW(check_against_floor(1.0, StreamingFloor{}), BrokenBenchmarkError);
}

TEST(StreamingFloor, TheErrorNamesBothTimesTheBytesAndTheContender) {
  try {
    check_against_floor(1.5, floor_of(3.0, 3.1));
    FAIL() << "a step at half of the floor passed";
  } catch (const BrokenBenchmarkError& error) {
    const std::string text = error.what();
    for (const char* part : {"1.5 us", "2.7 us", "3 us", "552960 bytes", "184.3 GB/s", "load"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    }
  }
}

TEST(StreamingFloor, OfTwoMeasurementsTheLowerTimesStand) {
  const StreamingFloor lower = lower_of(floor_of(3.0, 3.1), floor_of(3.2, 2.9));
  EXPECT_DOUBLE_EQ(lower.contenders[0].median_us, 3.0);
  EXPECT_DOUBLE_EQ(lower.contenders[1].median_us, 2.9);
  EXPECT_DOUBLE_EQ(lower.floor_us, 2.9);
  EXPECT_DOUBLE_EQ(lower.best_us, 0.9 * 2.9);
  EXPECT_EQ(lower.fastest, "fma");
  EXPECT_DOUBLE_EQ(lower.gb_per_s, static_cast<double>(540 << 10) / 2900.0);
  StreamingFloor other = floor_of(3.0, 3.1);
  other.bytes = 1024;
  EXPECT_THROW(lower_of(other, floor_of(3.0, 3.1)), UsageError);
}

TEST(StreamingFloor, IsTheSmallestMedianOfAllThatRunHere) {
  if (!tsc_facts().invariant) GTEST_SKIP() << "the time-stamp counter is not invariant";
  const TscClock clock = calibrate_tsc(0.02);
  const StreamingFloor floor = measure_streaming_floor(100'000, clock, 0.05);
  EXPECT_EQ(floor.bytes, 99'328);  // whole KB
  ASSERT_GE(floor.contenders.size(), 2U);
  double least = floor.contenders.front().median_us;
  for (const FloorContender& one : floor.contenders) {
    EXPECT_GT(one.best_us, 0.0) << one.name;
    EXPECT_LE(one.best_us, one.median_us) << one.name;
    least = std::min(least, one.median_us);
    EXPECT_GE(one.best_us, floor.best_us) << one.name;
  }
  EXPECT_EQ(floor.floor_us, least);
  EXPECT_NEAR(floor.gb_per_s, 99.328 / floor.floor_us, 1e-9 * floor.gb_per_s);
  EXPECT_EQ(measure_streaming_floor(1, clock, 0.001).bytes, 1024);
  EXPECT_THROW(measure_streaming_floor(0, clock), UsageError);
  EXPECT_THROW(measure_streaming_floor(1024, clock, std::nan("")), UsageError);
}

TEST(StreamingFloor, ReadingSixteenTimesTheBytesTakesLonger) {
  if (!tsc_facts().invariant) GTEST_SKIP() << "the time-stamp counter is not invariant";
  const TscClock clock = calibrate_tsc(0.02);
  // Medians of hundreds of passes: even a loaded machine does not turn a factor of 16 around.
  EXPECT_GT(measure_streaming_floor(16 << 16, clock, 0.1).floor_us,
            2.0 * measure_streaming_floor(1 << 16, clock, 0.1).floor_us);
}

}  // namespace
}  // namespace foxhunt::latency
