#include "foxhunt/kernels/hardware/bandwidth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace foxhunt::kernels {
namespace {

using testing::HasSubstr;

ReadRate rate(double median, double best) {
  return {.median = median, .best = best, .spread = 0.05, .bytes = 4096, .samples = 9};
}
Bandwidth plausible() {
  return {.l1 = rate(210, 215), .l2 = rate(115, 118), .l3 = rate(60, 61), .dram = rate(20, 21)};
}
Machine server() {
  Machine machine;
  machine.threads_per_core = 2;
  machine.memory_bytes = std::int64_t{64} << 30;
  machine.caches = {{.name = "L1d", .bytes = 48 << 10, .sharers = 2},
                    {.name = "L2", .bytes = 2 << 20, .sharers = 2},
                    {.name = "L3", .bytes = 36 << 20, .sharers = 32}};
  return machine;
}

TEST(ShareOfCore, ThreadsOfOneCoreCountOnceAndClustersDivide) {
  EXPECT_EQ(share_of_core({.name = "L2", .bytes = 2 << 20, .sharers = 2}, 2), 2 << 20);
  EXPECT_EQ(share_of_core({.name = "L2", .bytes = 4 << 20, .sharers = 4}, 1), 1 << 20);
  EXPECT_EQ(share_of_core({.name = "L2", .bytes = 4 << 20, .sharers = 0}, 0), 4 << 20);
  EXPECT_EQ(share_of_core({.name = "L2"}, 2), 0);
}

TEST(WorkingSets, LieInsideTheLevelTheyAreNamedAfter) {
  const WorkingSets sets = working_sets(server());
  EXPECT_EQ(sets.l1, 24 << 10);
  EXPECT_EQ(sets.l2, 1 << 20);
  EXPECT_GT(sets.l3, 2 << 20);
  EXPECT_LE(sets.l3, 18 << 20);
  EXPECT_GT(sets.dram, 36 << 20);
}

TEST(WorkingSets, OfAnUnknownMachineAreSmallAndRiseAndLeaveOutWhatIsNotThere) {
  const WorkingSets sets = working_sets({});
  EXPECT_GT(sets.l1, 0);
  EXPECT_GT(sets.l2, sets.l1);
  EXPECT_GT(sets.dram, sets.l2);
  Machine little = server();
  little.memory_bytes = std::int64_t{256} << 20;
  EXPECT_EQ(working_sets(little).dram, 0) << "a little machine is not filled up to measure it";
  little.caches.pop_back();
  EXPECT_EQ(working_sets(little).l3, 0);
}

TEST(Judge, LeavesAPlausibleMeasurementAlone) {
  const JudgedBandwidth judged = judge(plausible());
  EXPECT_EQ(judged.bandwidth, plausible());
  EXPECT_EQ(judged.doubts, "");
  // 5 % above the nearer level is the scatter of a quiet machine.
  Bandwidth close = plausible();
  close.l3 = rate(120, 121);
  EXPECT_EQ(judge(close).doubts, "");
}

TEST(Judge, AFartherLevelIsNeverFasterThanANearerOne) {
  Bandwidth noisy = plausible();
  noisy.l2 = rate(300, 310);
  const JudgedBandwidth judged = judge(noisy);
  EXPECT_EQ(judged.bandwidth.l2.median, 210.0);
  EXPECT_THAT(judged.doubts, HasSubstr("L2 at 300 GB/s"));
  EXPECT_EQ(judged.bandwidth.l1, noisy.l1);
  // The lowered level is what the next one is held to.
  noisy.l3 = rate(240, 250);
  EXPECT_EQ(judge(noisy).bandwidth.l3.median, 210.0);
}

TEST(Judge, DropsWhatNoCoreCanReach) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ReadRate& bad : {rate(-1, 5), rate(5000, 6000), rate(nan, nan), rate(0, 3),
                              rate(100, 90), rate(100, HUGE_VAL)}) {
    Bandwidth broken = plausible();
    broken.l2 = bad;
    const JudgedBandwidth judged = judge(broken);
    EXPECT_EQ(judged.bandwidth.l2, ReadRate{}) << bad.median;
    EXPECT_THAT(judged.doubts, HasSubstr("L2")) << bad.median;
    EXPECT_EQ(judged.bandwidth.l3, broken.l3) << "held to L1, since L2 is not known";
  }
}

TEST(Judge, NamesSamplesThatScatterAndTakesAnEmptyMeasurementAsUnknown) {
  Bandwidth busy = plausible();
  busy.l2.spread = 0.8;
  EXPECT_THAT(judge(busy).doubts, HasSubstr("L2 scatters by 80 %"));
  EXPECT_EQ(judge({}).doubts, "");
}

TEST(MeasureBandwidth, IsPositiveAndPassesItsOwnJudge) {
  const Bandwidth found = measure_bandwidth(this_machine());
  const JudgedBandwidth judged = judge(found);
  for (const ReadRate* level : {&judged.bandwidth.l1, &judged.bandwidth.l2}) {
    EXPECT_GT(level->median, 0.0) << judged.doubts;
    EXPECT_GE(level->best, level->median);
    EXPECT_GE(level->samples, 5);
  }
  // Every level under L1 is slower than L1's fastest sample: caches exist. 1.1: as in judge().
  for (const ReadRate* level : {&found.l2, &found.l3, &found.dram})
    EXPECT_LE(level->best, 1.1 * found.l1.best);
}

}  // namespace
}  // namespace foxhunt::kernels
