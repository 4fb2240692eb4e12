#include "foxhunt/latency/latency_row.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"

namespace foxhunt::latency {
namespace {

const TscClock kGhz(1.0, 1e-6, 20.0);

/// 100,000 steps of 3 us, watched for a second.
Measurement steady(std::int64_t stalls) {
  Measurement measured;
  measured.schedule = "back_to_back";
  for (int i = 0; i < 100'000; ++i) measured.all.record(3000);
  for (int i = 0; i < 5000; ++i) measured.quiet.record(2900);
  measured.during = {.watched_us = 1e6,
                     .stalls = stalls,
                     .stalled_us = 35.0 * static_cast<double>(stalls),
                     .largest_us = stalls > 0 ? 90.0 : 0.0};
  measured.core_before = {.median_ghz = 3.4, .best_ghz = 3.5};
  measured.core_after = {.median_ghz = 3.5, .best_ghz = 3.5};
  measured.counters = {.minor_faults = 1, .involuntary_switches = 3};
  measured.allocations = 0;
  return measured;
}

StreamingFloor floor_of(double us) {
  return {.bytes = 552960,
          .floor_us = us,
          .gb_per_s = 552.960 / us,
          .fastest = "load_avx512",
          .best_us = 0.9 * us,
          .contenders = {}};
}

const RowSubject kSubject{.model = "default_hft",
                          .parameters = 114'560,
                          .weights = "fp32",
                          .kernels = "avx512",
                          .bytes_per_step = 552'960,
                          .page_size = "2 MB",
                          .cpu = "Some CPU"};

TEST(LatencyRow, APercentileStandsWhereTheStallRateLetsIt) {
  const LatencyRow row = make_row(kSubject, steady(100), floor_of(2.5), kGhz);
  EXPECT_TRUE(row.p50.claimed());
  EXPECT_TRUE(row.p99.claimed());    // needs < 3,333
  EXPECT_TRUE(row.p99_9.claimed());  // needs < 333; the bound of 100 seen is 118
  EXPECT_FALSE(row.p99_99.claimed());
  EXPECT_EQ(row.p99_99.why_not, "118 stalls/s, p99.99 of 3 us needs < 33");
  EXPECT_DOUBLE_EQ(row.p50.us, 3.0);
  EXPECT_DOUBLE_EQ(row.stalls_per_s, 100.0);
  EXPECT_NEAR(row.floor_ratio(), 1.2, 1e-12);
  EXPECT_TRUE(row.notes.empty());
}

// 300 stalls seen in a second are below 333, but a watch as short as that does not show it.
TEST(LatencyRow, PercentilesAreJudgedByTheBoundOfTheRateAndNotByWhatWasSeen) {
  const LatencyRow row = make_row(kSubject, steady(310), floor_of(2.5), kGhz);
  EXPECT_LT(row.stalls_per_s, 333.0);
  EXPECT_GT(row.stalls_per_s_bound, 333.0);
  EXPECT_FALSE(row.p99_9.claimed());
}

TEST(LatencyRow, UnderAScheduleAStepIsExposedForAMeanStallLonger) {
  Measurement measured = steady(500);
  EXPECT_TRUE(make_row(kSubject, measured, floor_of(2.5), kGhz).p99.claimed());
  measured.spaced = true;  // 3 us and 35: needs < 263
  const LatencyRow row = make_row(kSubject, measured, floor_of(2.5), kGhz);
  EXPECT_FALSE(row.p99.claimed());
  EXPECT_NE(row.p99.why_not.find("of 38 us needs < 263"), std::string::npos) << row.p99.why_not;
}

TEST(LatencyRow, WithoutAWatchNoPercentileIsClaimed) {
  Measurement measured = steady(0);
  measured.during = {};
  const LatencyRow row = make_row(kSubject, measured, floor_of(2.5), kGhz);
  EXPECT_EQ(row.p50.why_not, "stalls were not watched");
  EXPECT_EQ(row.p50.us, 3.0);  // measured, and not claimed
}

TEST(LatencyRow, APercentileNeedsSamplesBeyondIt) {
  const LatencyRow row = make_row(kSubject, steady(0), floor_of(2.5), kGhz);
  EXPECT_TRUE(row.quiet_p99.claimed());  // of 5,000
  EXPECT_DOUBLE_EQ(row.quiet_p99.us, 2.9);
  Measurement few = steady(0);
  few.quiet.clear();
  EXPECT_EQ(make_row(kSubject, few, floor_of(2.5), kGhz).quiet_p99.why_not,
            "0 samples, p99 needs 1000");
}

TEST(LatencyRow, AFigureBelowTheFloorIsAnError) {
  EXPECT_THROW(make_row(kSubject, steady(0), floor_of(4.0), kGhz), BrokenBenchmarkError);
  EXPECT_THROW(make_row(kSubject, Measurement{}, floor_of(1.0), kGhz), UsageError);
}

TEST(LatencyRow, AFigureBetweenTheFloorsBestAndItsMedianIsNoted) {
  const LatencyRow row = make_row(kSubject, steady(0), floor_of(3.2), kGhz);
  ASSERT_EQ(row.notes.size(), 1U);
  EXPECT_NE(row.notes[0].find("3.200 us"), std::string::npos) << row.notes[0];
}

TEST(LatencyRow, ACoreBelowItsBestClockIsNoted) {
  Measurement measured = steady(0);
  measured.core_after = {.median_ghz = 2.0, .best_ghz = 3.5};
  const LatencyRow row = make_row(kSubject, measured, floor_of(2.5), kGhz);
  ASSERT_EQ(row.notes.size(), 1U);
  EXPECT_NE(row.notes[0].find("2.00 GHz"), std::string::npos) << row.notes[0];
  EXPECT_DOUBLE_EQ(row.core_ghz, 2.7);
}

TEST(LatencyRow, SystemCallsAreZeroByProofElseCountedElseNotKnown) {
  LatencyRow row;
  set_syscalls(row, {.verdict = SyscallVerdict::kNone, .runs = 9, .text = "none"});
  EXPECT_EQ(row.syscalls, 0);
  set_syscalls(row, {.verdict = SyscallVerdict::kCalled, .number = 1, .text = "call 1"},
               {.calls = 12, .text = {}});
  EXPECT_EQ(row.syscalls, 12);
  EXPECT_EQ(row.syscalls_text, "call 1; 12 counted by ptrace");
  set_syscalls(row, {.text = "not proven: forbidden"}, {.calls = {}, .text = "not counted: no"});
  EXPECT_FALSE(row.syscalls.has_value());
  EXPECT_EQ(row.syscalls_text, "not proven: forbidden; not counted: no");
  set_syscalls(row, {.verdict = SyscallVerdict::kCalled, .text = "call 1"});
  EXPECT_FALSE(row.syscalls.has_value());  // some were made; how many is not known
}

TEST(LatencyRow, JsonHoldsEveryFieldByNameAndNullForWhatIsNotClaimed) {
  LatencyRow row = make_row(kSubject, steady(100), floor_of(2.5), kGhz);
  set_syscalls(row, {.text = "not proven: forbidden"});
  const auto json = nlohmann::json::parse(to_json(row));
  EXPECT_EQ(json["model"], "default_hft");
  EXPECT_EQ(json["parameters"], 114'560);
  EXPECT_EQ(json["weights"], "fp32");
  EXPECT_EQ(json["kernels"], "avx512");
  EXPECT_EQ(json["schedule"], "back_to_back");
  for (const char* key : {"min_us", "p10_us", "p50_us", "p99_us", "p99_9_us", "max_us"}) {
    EXPECT_EQ(json[key], 3.0) << key;
  }
  EXPECT_EQ(json["floor_us"], 2.5);
  EXPECT_EQ(json["bytes_per_step"], 552'960);
  EXPECT_EQ(json["stalls_per_s"], 100.0);
  EXPECT_EQ(json["allocations"], 0);
  EXPECT_TRUE(json["syscalls"].is_null());
  EXPECT_TRUE(json["p99_99_us"].is_null());
  EXPECT_EQ(json["refused"]["p99_99_us"], row.p99_99.why_not);
  EXPECT_EQ(json["refused"].size(), 1U);
  EXPECT_EQ(json["n"], 100'000);
  EXPECT_EQ(json["core_ghz"], 3.45);
  EXPECT_EQ(json["involuntary_switches"], 3);
  EXPECT_EQ(json["minor_faults"], 1);
  EXPECT_EQ(json["page_size"], "2 MB");
  EXPECT_EQ(json["cpu"], "Some CPU");
}

TEST(LatencyRow, JsonOfSeveralIsAnArrayAndNeverFailsOnAForeignName) {
  LatencyRow row = make_row(kSubject, steady(0), floor_of(2.5), kGhz);
  row.cpu = "bad \xff byte";
  row.stalls_per_s_bound = std::numeric_limits<double>::infinity();
  const std::vector<LatencyRow> rows(2, row);
  const auto json = nlohmann::json::parse(to_json(rows));
  ASSERT_EQ(json.size(), 2U);
  EXPECT_TRUE(json[1]["stalls_per_s_bound"].is_null());
}

}  // namespace
}  // namespace foxhunt::latency
