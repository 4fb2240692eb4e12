// The loops under a clock that only moves when it is read or when a step takes time, so that every
// sample is known in advance.
#include "foxhunt/latency/run_loop.h"

#include <gtest/gtest.h>

#include <vector>

namespace foxhunt::latency {
namespace {

const TscClock kGhz(1.0);  // a tick is a ns

/// Each reading takes 10 ns, each pause 30; at chosen moments the core is taken away.
struct FakeTicks {
  struct Stall {
    std::uint64_t at;
    std::uint64_t length;
  };
  std::uint64_t now = 1'000'000;
  std::vector<Stall> stalls{};  ///< ascending
  std::size_t next_stall = 0;

  void pass(std::uint64_t ticks) {
    now += ticks;
    while (next_stall < stalls.size() && now >= stalls[next_stall].at) {
      now += stalls[next_stall++].length;
    }
  }
  std::uint64_t read() noexcept {
    pass(10);
    return now;
  }
  std::uint64_t spin() noexcept { return read(); }
  void pause() noexcept { pass(30); }
};

/// Takes 3 us; every `slow_every`th takes `slow` instead.
struct FakeStep {
  FakeTicks* ticks;
  std::int64_t* calls;
  std::int64_t slow_every = 0;
  std::uint64_t slow = 0;
  std::int64_t events = 1;
  std::vector<std::int64_t>* seen = nullptr;

  void operator()(std::int64_t event) const {
    ++*calls;
    if (seen != nullptr) seen->push_back(event);
    const bool is_slow = slow_every > 0 && *calls % slow_every == 0;
    ticks->pass(is_slow ? slow : 3000);
  }
  std::int64_t next(std::int64_t event) const { return event + 1 < events ? event + 1 : 0; }
};

LoopPlan plan_of(std::uint64_t length) {
  return {.length = length,
          .most_samples = 1'000'000,
          .slice = 200'000,
          .control = 100'000,
          .stall = 1000,
          .lead_in = 0,
          .keep_warm = {},
          .guard = 2000};
}

LoopResult back_to_back(FakeTicks& ticks, const FakeStep& step, const LoopPlan& plan,
                        std::size_t slice_samples = 4096) {
  std::vector<std::uint64_t> samples(slice_samples);
  LoopResult result;
  run_back_to_back(ticks, kGhz, step, plan, 0, samples, result);
  return result;
}

LoopResult spaced(FakeTicks& ticks, const FakeStep& step, const LoopPlan& plan, double gap_us) {
  LoopResult result;
  run_spaced(ticks, kGhz, step, plan, Schedule::fixed(gap_us), 0, result);
  return result;
}

TEST(BackToBack, ASampleIsTheStepAndOneReadingOfTheClock) {
  FakeTicks ticks;
  std::int64_t calls = 0;
  const LoopResult result = back_to_back(ticks, {&ticks, &calls}, plan_of(3'000'000));
  EXPECT_EQ(result.all.min(), 3010U);
  EXPECT_EQ(result.all.max(), 3010U);
  EXPECT_EQ(result.all.count(), calls);
  EXPECT_EQ(result.quiet.count(), calls);
  EXPECT_EQ(result.stretches, result.quiet_stretches);
  EXPECT_GE(result.ticks, 3'000'000U);
}

TEST(BackToBack, SlicesOfStepsAndOfTheControlTakeTurns) {
  FakeTicks ticks;
  std::int64_t calls = 0;
  const LoopResult result = back_to_back(ticks, {&ticks, &calls}, plan_of(3'000'000));
  EXPECT_EQ(result.stretches, 10);  // 300 us each, the first control slice ahead
  // 67 steps of 3.02 us pass 200 us, and each slice ends with the step that does.
  EXPECT_EQ(result.all.count(), result.stretches * 67);
  EXPECT_NEAR(result.during.watched_us, 11 * 100.0, 11 * 0.1);
  EXPECT_EQ(result.during.stalls, 0);
}

TEST(BackToBack, StepsThatFollowTheControlAreRunAndNotTimed) {
  FakeTicks ticks;
  std::int64_t calls = 0;
  LoopPlan plan = plan_of(1'000'000);
  plan.lead_in = 3;
  const LoopResult result = back_to_back(ticks, {&ticks, &calls}, plan);
  EXPECT_EQ(calls, result.all.count() + 3 * result.stretches);
}

TEST(BackToBack, AStallInAControlSliceTakesTheSlicesOnBothSidesOutOfTheQuietOnes) {
  FakeTicks ticks;
  // Control 0 spans 0-100 us from the start, steps to ~300, control 1 to ~400, and so on: a stall
  // at 350 us lies in control 1, between slices 0 and 1.
  ticks.stalls = {{ticks.now + 350'000, 35'000}};
  std::int64_t calls = 0;
  const LoopResult result = back_to_back(ticks, {&ticks, &calls}, plan_of(3'000'000));
  EXPECT_EQ(result.during.stalls, 1);
  EXPECT_NEAR(result.during.largest_us, 35.0, 0.1);
  EXPECT_EQ(result.stretches - result.quiet_stretches, 2);
  EXPECT_EQ(result.all.max(), 3010U);  // no step was hit
  EXPECT_EQ(result.quiet.count(), result.quiet_stretches * 67);
}

TEST(BackToBack, ASlowStepOfTheWorksOwnMakingStaysInTheQuietSamples) {
  FakeTicks ticks;
  std::int64_t calls = 0;
  const LoopResult result = back_to_back(ticks, {&ticks, &calls, 100, 40'000}, plan_of(5'000'000));
  EXPECT_EQ(result.quiet.max(), 40'010U);
  EXPECT_EQ(result.quiet.count(), result.all.count());
}

TEST(BackToBack, AStallInsideAStepIsItsLatencyAndNoBusinessOfTheControl) {
  FakeTicks ticks;
  ticks.stalls = {{ticks.now + 200'000, 35'000}};
  std::int64_t calls = 0;
  const LoopResult result = back_to_back(ticks, {&ticks, &calls}, plan_of(1'000'000));
  EXPECT_EQ(result.during.stalls, 0);
  EXPECT_EQ(result.all.max(), 38'010U);
}

TEST(BackToBack, ASliceThatFillsItsStorageEndsWithoutLosingASample) {
  FakeTicks ticks;
  std::int64_t calls = 0;
  const LoopResult result = back_to_back(ticks, {&ticks, &calls}, plan_of(2'000'000), 5);
  EXPECT_EQ(result.all.count(), calls);
  EXPECT_EQ(result.all.count(), 5 * result.stretches);
}

TEST(BackToBack, EndsWithTheStretchThatReachesTheMostSamples) {
  FakeTicks ticks;
  std::int64_t calls = 0;
  LoopPlan plan = plan_of(~std::uint64_t{0});
  plan.most_samples = 100;
  EXPECT_EQ(back_to_back(ticks, {&ticks, &calls}, plan).all.count(), 2 * 67);
}

TEST(BackToBack, EventsAreNumberedInTurnAcrossSlicesAndUntimedSteps) {
  FakeTicks ticks;
  std::int64_t calls = 0;
  std::vector<std::int64_t> seen;
  LoopPlan plan = plan_of(1'000'000);
  plan.lead_in = 2;
  back_to_back(ticks, {&ticks, &calls, 0, 0, 7, &seen}, plan);
  ASSERT_GT(seen.size(), 100U);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i], static_cast<std::int64_t>(i % 7)) << i;
  }
}

TEST(Spaced, AnUndisturbedEventTakesTheStepAndTheWaitsGrain) {
  FakeTicks ticks;
  std::int64_t calls = 0;
  const LoopResult result = spaced(ticks, {&ticks, &calls}, plan_of(2'000'000), 20.0);
  EXPECT_EQ(result.all.count(), 100);
  EXPECT_GE(result.all.min(), 3010U);
  EXPECT_LE(result.all.max(), 3010U + 40U);  // a pause and a reading past the due time
  EXPECT_EQ(result.late_events, 0);
  EXPECT_EQ(result.quiet.count(), 99);  // the last event has no wait behind it
  // 17 of every 20 us are waits.
  EXPECT_NEAR(result.during.watched_us, 100 * 17.0, 100 * 0.1);
}

// The point of a schedule. A step of 100 us at a gap of 20: the five events behind it were due
// while it ran, and each is charged with its wait. Timing from the start of each step would show
// one slow step in a thousand.
TEST(Spaced, AStepThatIsSlowIsChargedForTheEventsThatWaitedBehindIt) {
  FakeTicks ticks;
  std::int64_t calls = 0;
  const LoopResult result =
      spaced(ticks, {&ticks, &calls, 1000, 100'000}, plan_of(1100 * 20'000ULL), 20.0);
  // Late by 80 - 17 k us behind the slow one: k = 0 … 4 are late, k = 5 no more.
  EXPECT_EQ(result.late_events, 5);
  EXPECT_GE(result.all.max(), 100'000U);
  const auto n = static_cast<double>(result.all.count());
  const auto worst = [&](double k) {  // the k-th worst of all
    return static_cast<double>(result.all.quantile((n - k + 1.0) / n));
  };
  for (int k = 0; k < 5; ++k) {
    // 1/128 of the histogram, and 40 ns of readings an event.
    EXPECT_NEAR(worst(k + 2), 100e3 - 17e3 * (k + 1), 100e3 / 128.0 + 40.0 * (k + 2)) << k;
  }
  EXPECT_LE(worst(7), 3050.0 * (1.0 + 1.0 / 128.0));
}

TEST(Spaced, DueTimesNeverMove) {
  FakeTicks ticks;
  std::int64_t calls = 0;
  const std::uint64_t start = ticks.now;
  const LoopResult result = spaced(ticks, {&ticks, &calls, 10, 30'000}, plan_of(2'000'000), 20.0);
  EXPECT_EQ(result.all.count(), 100);
  EXPECT_NEAR(static_cast<double>(ticks.now - start), 2e6 + 30e3, 200.0);  // the last one is slow
}

TEST(Spaced, AStallInAWaitTakesTheEventsOnBothSidesOutOfTheQuietOnes) {
  FakeTicks ticks;
  ticks.stalls = {{ticks.now + 210'000, 5000}};  // in the wait before the event due at 220 us
  std::int64_t calls = 0;
  const LoopResult result = spaced(ticks, {&ticks, &calls}, plan_of(2'000'000), 20.0);
  EXPECT_EQ(result.during.stalls, 1);
  EXPECT_EQ(result.quiet.count(), 99 - 2);
}

TEST(Spaced, AStallThatSpansADueTimeDelaysItsEventAndMakesItNotQuiet) {
  FakeTicks ticks;
  ticks.stalls = {{ticks.now + 215'000, 10'000}};
  std::int64_t calls = 0;
  const LoopResult result = spaced(ticks, {&ticks, &calls}, plan_of(2'000'000), 20.0);
  EXPECT_NEAR(static_cast<double>(result.all.max()), 3010.0 + 5000.0, 60.0);
  EXPECT_LE(result.quiet.max(), 3050U);
  EXPECT_EQ(result.during.stalls, 1);
}

TEST(Spaced, AnEventWithoutAWaitBesideItIsNotQuiet) {
  FakeTicks ticks;
  std::int64_t calls = 0;
  // Every step takes longer than the gap: after the first wait there is none.
  const LoopResult result = spaced(ticks, {&ticks, &calls, 1, 25'000}, plan_of(2'000'000), 20.0);
  EXPECT_EQ(result.quiet.count(), 0);
  EXPECT_EQ(result.late_events, result.all.count() - 1);
}

TEST(Spaced, MemoryIsKeptWarmWhileWaitingButNotShortlyBeforeAnEvent) {
  static FakeTicks* fake = nullptr;
  static std::vector<std::uint64_t> touched;
  FakeTicks ticks;
  const std::uint64_t start = ticks.now;
  fake = &ticks;
  touched.clear();
  LoopPlan plan = plan_of(200'000);
  plan.keep_warm.run = [](void*) noexcept {
    touched.push_back(fake->now);
    fake->pass(1500);  // longer than a stall, and none
  };
  std::int64_t calls = 0;
  const LoopResult result = spaced(ticks, {&ticks, &calls}, plan, 20.0);
  EXPECT_EQ(result.during.stalls, 0);
  EXPECT_GE(touched.size(), 80U);
  for (const std::uint64_t at : touched) {
    const std::uint64_t left = 20'000 - (at - start) % 20'000;
    EXPECT_GE(left, 2000U - 50U);  // two readings of the clock
  }
  EXPECT_LE(result.all.max(), 3050U);
  EXPECT_LT(result.during.watched_us, 10 * 5.0);  // touching is not watching
}

struct Prepared {
  FakeTicks* ticks;
  std::vector<std::int64_t> order;  ///< events: prepared as -1 - event, run as they are
};
EventWork prepared_work(Prepared& prepared) {
  return {.run =
              [](void* context, std::int64_t event) noexcept {
                auto& p = *static_cast<Prepared*>(context);
                p.order.push_back(event);
                p.ticks->pass(3000);
              },
          .context = &prepared,
          .events = 3,
          .prepare =
              [](void* context, std::int64_t event) noexcept {
                auto& p = *static_cast<Prepared*>(context);
                p.order.push_back(-1 - event);
                p.ticks->pass(7000);
              }};
}

TEST(EventStep, PreparesEachFollowingEventOutsideOfItsTime) {
  FakeTicks ticks;
  Prepared prepared{&ticks, {}};
  const EventStep step{prepared_work(prepared)};
  std::vector<std::uint64_t> samples(4096);
  LoopResult result;
  LoopPlan plan = plan_of(1'000'000);
  plan.lead_in = 2;
  run_back_to_back(ticks, kGhz, step, plan, 0, samples, result);
  EXPECT_EQ(result.all.max(), 3010U);
  Prepared waiting{&ticks, {}};
  LoopResult apart;
  run_spaced(ticks, kGhz, EventStep{prepared_work(waiting)}, plan_of(1'000'000),
             Schedule::fixed(20.0), 0, apart);
  EXPECT_LE(apart.all.max(), 3050U);  // the wait's grain
  EXPECT_EQ(apart.late_events, 0);
  for (const Prepared* p : {&prepared, &waiting}) {
    ASSERT_GT(p->order.size(), 12U);
    for (std::size_t i = 0; i + 1 < p->order.size(); i += 2) {
      ASSERT_EQ(p->order[i], static_cast<std::int64_t>(i / 2 % 3));
      ASSERT_EQ(p->order[i + 1], -1 - static_cast<std::int64_t>((i / 2 + 1) % 3));
    }
  }
}

TEST(WarmUp, EndsByTimeAndRunsAtLeastOnce) {
  FakeTicks ticks;
  std::int64_t calls = 0;
  const FakeStep step{&ticks, &calls, 0, 0, 4, nullptr};
  EXPECT_EQ(warm_up(ticks, step, 30'000, 0), 10 % 4);
  EXPECT_EQ(calls, 10);  // 3 us each
  calls = 0;
  EXPECT_EQ(warm_up(ticks, step, 0, 3), 0);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace foxhunt::latency
