#include "foxhunt/latency/runner.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/latency/count_allocations.h"

namespace foxhunt::latency {
namespace {

#define CLOCK_OR_SKIP(name)                                                              \
  if (!tsc_facts().invariant) GTEST_SKIP() << "the time-stamp counter is not invariant"; \
  const TscClock name = calibrate_tsc(0.02)

void spin(void* context) noexcept {
  volatile double x = 1.0;
  for (int i = *static_cast<int*>(context); i > 0; --i) x = x * 1.0000001;
}

RunPlan short_plan(Schedule schedule) {
  RunPlan plan;
  plan.schedule = std::move(schedule);
  plan.warm_seconds = 0.01;
  plan.seconds = 0.05;
  plan.control_seconds = 0.01;
  plan.allocations = &thread_allocations;
  return plan;
}

TEST(Runner, TheLoopAllocatesNothingAndTouchesNoNewPage) {
  CLOCK_OR_SKIP(clock);
  int turns = 200;
  for (const Schedule& schedule : {Schedule::back_to_back(), Schedule::fixed(20.0)}) {
    measure(Work{&spin, &turns}, short_plan(schedule), clock);  // maps the pages of the code
    const Measurement measured = measure(Work{&spin, &turns}, short_plan(schedule), clock);
    ASSERT_TRUE(measured.allocations.has_value());
    EXPECT_EQ(*measured.allocations, 0) << measured.schedule;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // shadow memory faults
    EXPECT_EQ(measured.counters.major_faults, 0) << measured.schedule;
    EXPECT_EQ(measured.counters.minor_faults, 0) << measured.schedule;
#endif
  }
}

TEST(Runner, AnAllocationInTheWorkIsCounted) {
  CLOCK_OR_SKIP(clock);
  const Work work{[](void*) noexcept {
                    auto* one = new int(1);
                    asm volatile("" : : "r"(one) : "memory");
                    delete one;
                  },
                  nullptr};
  RunPlan plan = short_plan(Schedule::back_to_back());
  const Measurement measured = measure(work, plan, clock);
  EXPECT_GE(*measured.allocations, measured.all.count());
  plan.allocations = nullptr;
  EXPECT_FALSE(measure(work, plan, clock).allocations.has_value());
}

TEST(Runner, LongerWorkTakesLonger) {
  CLOCK_OR_SKIP(clock);
  int few = 100;
  int many = 3000;
  const RunPlan plan = short_plan(Schedule::back_to_back());
  const Measurement quick = measure(Work{&spin, &few}, plan, clock);
  const Measurement slow = measure(Work{&spin, &many}, plan, clock);
  // Medians, with a factor of 30 between them.
  EXPECT_GT(slow.all.quantile(0.5), 5 * quick.all.quantile(0.5));
  EXPECT_LE(quick.quiet.count(), quick.all.count());
  EXPECT_LE(quick.quiet_stretches, quick.stretches);
  EXPECT_GE(quick.seconds, 0.05 * 0.999);
}

TEST(Runner, AScheduleThatTheWorkCannotHoldShowsInTheLatencies) {
  CLOCK_OR_SKIP(clock);
  int turns = 20000;  // far more than 1 us
  const Measurement measured =
      measure(Work{&spin, &turns}, short_plan(Schedule::fixed(1.0)), clock);
  EXPECT_GE(measured.late_events, measured.all.count() - 1);
  // The queue grows without end: the last event waited for all before it.
  EXPECT_GT(clock.us(measured.all.max()), 0.5 * measured.seconds * 1e6);
  EXPECT_TRUE(measured.spaced);
  EXPECT_EQ(measured.schedule, "1us");
}

TEST(Runner, EventsAreIndicesIntoWhatTheCallerPrepared) {
  CLOCK_OR_SKIP(clock);
  struct Seen {
    std::int64_t counts[5] = {};
    std::int64_t out_of_range = 0;
  } seen;
  const EventWork work{[](void* context, std::int64_t event) noexcept {
                         auto& s = *static_cast<Seen*>(context);
                         if (event < 0 || event >= 5) {
                           ++s.out_of_range;
                         } else {
                           ++s.counts[event];
                         }
                       },
                       &seen, 5};
  measure(work, short_plan(Schedule::back_to_back()), clock);
  EXPECT_EQ(seen.out_of_range, 0);
  for (const std::int64_t count : seen.counts) {
    EXPECT_GT(count, 0);
    EXPECT_LE(std::abs(count - seen.counts[0]), 1);  // in turn
  }
}

TEST(Runner, TheControlWatchesBeforeDuringAndAfter) {
  CLOCK_OR_SKIP(clock);
  int turns = 100;
  const Measurement measured =
      measure(Work{&spin, &turns}, short_plan(Schedule::back_to_back()), clock);
  EXPECT_GE(measured.before.watched_us, 0.01e6 * 0.999);
  EXPECT_GE(measured.after.watched_us, 0.01e6 * 0.999);
  EXPECT_GT(measured.during.watched_us, 100.0);  // a control slice at least
  EXPECT_DOUBLE_EQ(
      measured.control().watched_us,
      measured.before.watched_us + measured.during.watched_us + measured.after.watched_us);
}

TEST(Runner, RefusesPlansThatMeanNothing) {
  const TscClock clock(2.0);
  const Work work{[](void*) noexcept {}, nullptr};
  const auto refuses = [&](auto&& change) {
    RunPlan plan = short_plan(Schedule::back_to_back());
    change(plan);
    EXPECT_THROW(measure(work, plan, clock), UsageError);
  };
  refuses([](RunPlan& p) { p.seconds = 0.0; });
  refuses([](RunPlan& p) { p.seconds = std::nan(""); });
  refuses([](RunPlan& p) { p.warm_seconds = -1.0; });
  refuses([](RunPlan& p) { p.control_seconds = INFINITY; });
  refuses([](RunPlan& p) { p.slice_us = 0.0; });
  refuses([](RunPlan& p) { p.control_slice_us = -5.0; });
  refuses([](RunPlan& p) { p.most_samples = 0; });
  refuses([](RunPlan& p) { p.lead_in = -1; });
  const RunPlan plan = short_plan(Schedule::back_to_back());
  EXPECT_THROW(measure(Work{}, plan, clock), UsageError);
  EXPECT_THROW(measure(EventWork{}, plan, clock), UsageError);
  EXPECT_THROW(measure(EventWork{[](void*, std::int64_t) noexcept {}, nullptr, 0}, plan, clock),
               UsageError);
}

}  // namespace
}  // namespace foxhunt::latency
