#include "foxhunt/train/bench_train/bench_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace foxhunt::train {
namespace {

BenchVisit visit(std::vector<double> seconds, std::vector<double> losses = {2.0, 1.0},
                 std::int64_t peak = 100) {
  return {.seconds = std::move(seconds),
          .reference = {0.1},
          .reference_single = {0.2},
          .losses = std::move(losses),
          .peak_bytes = peak};
}

/// As a report calls it, of one case alone.
CaseSummary summarise(const CaseRecord& record, std::int64_t rows, double level) {
  return train::summarise(record, rows, level, host_speed({&record}));
}

CaseRecord record(std::vector<BenchVisit> visits, std::int64_t batch = 8) {
  return {.which = {"cpu", "fp32", "native", batch}, .visits = std::move(visits)};
}

TEST(BenchCase, KeysNameEverySide) {
  const BenchCase one{"cuda:1", "bf16", "aten", 32};
  EXPECT_EQ(one.key(), "cuda:1/bf16/aten/32");
  EXPECT_EQ(one.family(), "cuda:1/bf16/aten");
}

TEST(BenchCase, FiguresAreMediansOfWhatVisitsSay) {
  const CaseSummary s = summarise(
      record({visit({0.1, 0.5, 0.2}), visit({0.3, 0.3, 0.9}), visit({0.4, 0.4, 0.1})}), 10, 0.95);
  EXPECT_DOUBLE_EQ(s.step_seconds.value, 0.3);  // of 0.2, 0.3, 0.4
  EXPECT_DOUBLE_EQ(s.references.value, 3);
  EXPECT_DOUBLE_EQ(s.step_seconds.low, 0.2);
  EXPECT_DOUBLE_EQ(s.step_seconds.high, 0.4);
  EXPECT_DOUBLE_EQ(s.least.value, 0.1);
  EXPECT_DOUBLE_EQ(s.p95.value, 0.5);
  EXPECT_DOUBLE_EQ(s.windows_per_second.value, 8 / 0.3);
  EXPECT_DOUBLE_EQ(s.windows_per_second.low, 8 / 0.4);  // the slow end of the time
  EXPECT_DOUBLE_EQ(s.rows_per_second.high, 80 / 0.2);
  EXPECT_DOUBLE_EQ(s.peak_bytes.value, 100);
  EXPECT_EQ(s.steps, 9);
}

TEST(BenchCase, ResidentMemoryMayMoveBetweenProcessesAnAllocatorsPeakDoesNot) {
  CaseRecord r = record({visit({1.0}), visit({1.0})});
  EXPECT_EQ(r.which.device, "cpu");
  EXPECT_DOUBLE_EQ(summarise(r, 1, 0.95).peak_bytes.low, 100 / 1.15);
  EXPECT_DOUBLE_EQ(summarise(r, 1, 0.95).peak_bytes.high, 100 * 1.15);
  r.which.device = "cuda:0";
  EXPECT_DOUBLE_EQ(summarise(r, 1, 0.95).peak_bytes.low, 100);
  EXPECT_DOUBLE_EQ(summarise(r, 1, 0.95).peak_bytes.high, 100);
}

TEST(BenchCase, AnUnknownPeakIsNoZero) {
  EXPECT_TRUE(std::isnan(summarise(record({visit({1.0}, {1.0}, -1)}), 1, 0.95).peak_bytes.value));
}

TEST(BenchCase, StabilityOfTheLossComparesWhatVisitsHaveInCommon) {
  LossStability loss = summarise(record({visit({1}, {3, 2, 1}), visit({1}, {3, 2})}), 1, 0.95).loss;
  EXPECT_TRUE(loss.finite && loss.falls);
  EXPECT_EQ(loss.steps, 2);
  EXPECT_EQ(loss.repeat_difference, 0);
  loss = summarise(record({visit({1}, {3, 2}), visit({1}, {3, 2.5})}), 1, 0.95).loss;
  EXPECT_EQ(loss.repeat_difference, 0.5);
  loss = summarise(record({visit({1}, {1, 2})}), 1, 0.95).loss;
  EXPECT_FALSE(loss.falls);
  loss = summarise(record({visit({1}, {1, std::nan("")})}), 1, 0.95).loss;
  EXPECT_FALSE(loss.finite);
  EXPECT_EQ(loss.repeat_difference, std::numeric_limits<double>::infinity());
}

/// Machine and neighbours three times slower meanwhile: steps and reference alike.
CaseRecord drifting(double step, double reference) {
  CaseRecord out = record({});
  for (int i = 0; i < 24; ++i) {
    const double slower = 1 + 2 * i / 23.0;
    out.visits.push_back({.seconds = {step * slower, step * slower, 9 * step * slower},
                          .reference = {reference * slower},
                          .reference_single = {2 * reference * slower},
                          .losses = {2, 1},
                          .peak_bytes = 100});
  }
  return out;
}

TEST(BenchCase, AgainstTheReferenceDriftCancelsAndByTheClockItShows) {
  const CaseRecord one = drifting(1.0, 0.25);
  const CaseSummary s = summarise(one, 1, 0.95);
  EXPECT_NEAR(s.references.value, 4, 1e-12);
  EXPECT_NEAR(s.references.high - s.references.low, 0, 1e-9);
  const HostSpeed host = host_speed({&one});
  EXPECT_NEAR(host.program.value, 0.5, 1e-12);
  EXPECT_NEAR(host.single.value, 1.0, 1e-12);
  EXPECT_NEAR(host.program.low, 0.25, 1e-12);  // of 24 all but the 2.5 % that are none
  EXPECT_NEAR(host.program.high, 0.75, 1e-12);
  EXPECT_NEAR(host.swing(), 2, 1e-12);
  EXPECT_NEAR(s.normalised_seconds.value, 2, 1e-12);
  EXPECT_NEAR(s.step_seconds.value, 2, 1e-12);
  EXPECT_NEAR(s.step_seconds.low, 1, 1e-9);   // 4 references at the fastest
  EXPECT_NEAR(s.step_seconds.high, 3, 1e-9);  // and at the slowest
  EXPECT_NEAR(s.p95.high, 27, 1e-9);
}

TEST(BenchCase, ARatioIsTakenVisitByVisitSoThatDriftCancels) {
  CaseRecord slow = drifting(2.0, 0.25), fast = drifting(1.0, 0.25);
  const Figure ratio = ratio_of(slow, fast, 0.95);
  EXPECT_NEAR(ratio.value, 2, 1e-12);
  EXPECT_NEAR(ratio.low, 2, 1e-9);
  EXPECT_NEAR(ratio.high, 2, 1e-9);
  EXPECT_GE(ratio.level, 0.95);
  fast.visits.pop_back();  // one visit fewer on one side
  EXPECT_NEAR(ratio_of(slow, fast, 0.95).value, 2, 1e-12);
  slow.which.device = "cuda:0";  // another reference: the clock alone compares
  EXPECT_NEAR(ratio_of(drifting(4.0, 0.5), drifting(1.0, 0.25), 0.95).value, 2, 1e-12);
  slow.visits = drifting(3.0, 0.001).visits;
  EXPECT_NEAR(ratio_of(slow, fast, 0.95).value, 3, 1e-12);
  // The machine was slower for one of the two: its reference says so.
  EXPECT_NEAR(ratio_of(drifting(4.0, 0.5), fast, 0.95).value, 2, 1e-12);
}

TEST(BenchCase, BatchesArePowersAndTheConfigurationsOwn) {
  EXPECT_EQ(batches_of(16, 4, false), (std::vector<std::int64_t>{1, 2, 4, 8, 16}));
  EXPECT_EQ(batches_of(16, 6, true), (std::vector<std::int64_t>{1, 4, 6, 16}));
  EXPECT_EQ(batches_of(1, 32, false), (std::vector<std::int64_t>{1, 32}));
}

TEST(BenchCase, MemoryIsALineThroughTheTwoLargest) {
  const CaseRecord a = record({visit({1}, {1}, 500)}, 1);
  const CaseRecord b = record({visit({1}, {1}, 1000)}, 10);
  const CaseRecord c = record({visit({1}, {1}, 2000), visit({1}, {1}, 2000)}, 20);
  const MemoryLine line = memory_line({&c, &a, &b});
  EXPECT_DOUBLE_EQ(line.per_window, 100);
  EXPECT_DOUBLE_EQ(line.base, 0);
  EXPECT_EQ(line.measured_batch, 20);
  EXPECT_EQ(memory_line({&c}).per_window, 0);
}

}  // namespace
}  // namespace foxhunt::train
