#include "foxhunt/latency/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foxhunt/base/error.h"

namespace foxhunt::latency {
namespace {

TEST(Schedule, FixedEventsAreDueAtWholeGaps) {
  const Schedule schedule = Schedule::fixed(20.0);
  EXPECT_DOUBLE_EQ(schedule.due_ns(0), 20e3);
  EXPECT_DOUBLE_EQ(schedule.due_ns(1), 40e3);
  EXPECT_DOUBLE_EQ(schedule.due_ns(999'999'999), 2e13);
  EXPECT_TRUE(schedule.spaced());
  EXPECT_FALSE(Schedule::back_to_back().spaced());
}

TEST(Schedule, PoissonGapsAreExponentialWithTheMeanAskedFor) {
  Rng rng(11);
  const std::int64_t n = 20000;
  const Schedule schedule = Schedule::poisson(20.0, rng, n);
  double last = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  double beyond = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double gap = (schedule.due_ns(i) - last) / 20e3;
    ASSERT_GE(gap, 0.0);
    last = schedule.due_ns(i);
    sum += gap;
    squares += gap * gap;
    beyond += gap > 1.0 ? 1.0 : 0.0;
  }
  // Five standard errors of 20,000 draws: mean 1 (sd 1), mean square 2 (sd sqrt 20), share beyond
  // the mean 1/e.
  const double count = static_cast<double>(n);
  EXPECT_NEAR(sum / count, 1.0, 5.0 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 2.0, 5.0 * std::sqrt(20.0 / count));
  EXPECT_NEAR(beyond / count, std::exp(-1.0), 5.0 * std::sqrt(0.24 / count));
}

TEST(Schedule, PoissonArrivalsRepeatShiftedAndNeverRunBack) {
  Rng rng(2);
  const Schedule schedule = Schedule::poisson(5.0, rng, 100);
  const double period = schedule.due_ns(99);
  for (std::int64_t i = 0; i < 100; ++i) {
    EXPECT_DOUBLE_EQ(schedule.due_ns(i + 300), schedule.due_ns(i) + 3.0 * period);
  }
  for (std::int64_t i = 1; i < 400; ++i) EXPECT_GE(schedule.due_ns(i), schedule.due_ns(i - 1));
}

TEST(Schedule, HasANameForTables) {
  Rng rng(2);
  EXPECT_EQ(Schedule::back_to_back().name(), "back_to_back");
  EXPECT_EQ(Schedule::fixed(20.0).name(), "20us");
  EXPECT_EQ(Schedule::fixed(1000.0).name(), "1ms");
  EXPECT_EQ(Schedule::fixed(1e7).name(), "10s");
  EXPECT_EQ(Schedule::poisson(20.0, rng).name(), "poisson_20us");
}

TEST(Schedule, RefusesGapsThatAreNone) {
  Rng rng(2);
  EXPECT_THROW(Schedule::fixed(0.0), UsageError);
  EXPECT_THROW(Schedule::fixed(-1.0), UsageError);
  EXPECT_THROW(Schedule::fixed(std::nan("")), UsageError);
  EXPECT_THROW(Schedule::poisson(INFINITY, rng), UsageError);
  EXPECT_THROW(Schedule::poisson(1.0, rng, 0), UsageError);
}

}  // namespace
}  // namespace foxhunt::latency
