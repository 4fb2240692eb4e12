// What is timed answers each time, and allocates, locks and calls nothing while it does.
#include "foxhunt/contract/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/contract/preset.h"
#include "foxhunt/latency/count_allocations.h"
#include "foxhunt/latency/syscall_proof.h"
#ifdef FOXHUNT_COUNTS_LOCKS
#include "foxhunt/latency/count_locks.h"
#endif

namespace foxhunt::contract {
namespace {

using PlanPointer = std::shared_ptr<const engine::Plan>;

constexpr Timed kAll[] = {Timed::kStep, Timed::kEvent, Timed::kAnswer};

const PlanPointer& plan() {
  static const PlanPointer kPlan = engine::Plan::build(preset_bundle("default_hft", 1, 3000));
  return kPlan;
}
const Rows& rows() {
  static const Rows kRows = rows_of(plan());
  return kRows;
}

/// As the runner does: the first event is ready, each following one is prepared.
void run_events(const latency::EventWork& work, std::int64_t n) {
  std::int64_t event = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    work.run(work.context, event);
    event = event + 1 < work.events ? event + 1 : 0;
    work.prepare(work.context, event);
  }
}

TEST(Replay, TimesTheAnsweredRecordsOfARealDayAndNoOther) {
  engine::Session session(plan());
  std::vector<float> out(3);
  std::vector<std::int64_t> answered;
  for (std::size_t i = 0; i < rows().bars.size(); ++i) {
    if (session.on_event(rows().bars[i], out) == engine::Status::kReady)
      answered.push_back(static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(rows().answered, answered);
  EXPECT_EQ(rows().features.size(), answered.size() * static_cast<std::size_t>(rows().n_features));
  // What the counts below pass over: a session's end, a hole, a bad record.
  EXPECT_GE(session.counters().new_session, 2);
  EXPECT_EQ(session.counters().long_gap, 1);
  EXPECT_EQ(session.counters().bad(), 1);
  EXPECT_GT(session.counters().warming_up, 100);
}

TEST(Replay, EachTimedCallAnswersAcrossRestarts) {
  for (const Timed timed : kAll) {
    for (const std::int64_t sessions : {1, 3}) {
      Replay replay(plan(), rows(), timed, sessions);
      const latency::EventWork work = replay.work();
      EXPECT_EQ(work.events, std::ssize(rows().answered) * sessions);
      run_events(work, 2 * work.events + 7);
      EXPECT_EQ(replay.answers(), 2 * work.events + 7);
      EXPECT_EQ(replay.unanswered(), 0) << to_string(timed) << ", " << sessions << " sessions";
    }
  }
}

TEST(Replay, CountsCallsWithoutAnAnswer) {
  Rows wrong = rows();
  wrong.answered.insert(wrong.answered.begin(), 0);  // the first record of all only warms up
  wrong.features.insert(wrong.features.begin(), static_cast<std::size_t>(wrong.n_features), 0.0F);
  Replay replay(plan(), wrong, Timed::kEvent);
  const latency::EventWork work = replay.work();
  run_events(work, work.events);
  EXPECT_EQ(replay.unanswered(), 1);
}

TEST(Replay, AllocatesNothingOverAHundredThousandEvents) {
  for (const Timed timed : kAll) {
    Replay replay(plan(), rows(), timed);
    const latency::EventWork work = replay.work();
    const std::int64_t before = latency::thread_allocations();
    const std::int64_t freed = latency::thread_frees();
    run_events(work, 100'000);
    EXPECT_EQ(latency::thread_allocations() - before, 0) << to_string(timed);
    EXPECT_EQ(latency::thread_frees() - freed, 0) << to_string(timed);
    EXPECT_EQ(replay.answers(), 100'000);
  }
}

#ifdef FOXHUNT_COUNTS_LOCKS
TEST(Replay, TakesNoLock) {
  for (const Timed timed : kAll) {
    Replay replay(plan(), rows(), timed);
    const latency::EventWork work = replay.work();
    const std::int64_t before = latency::thread_locks();
    run_events(work, 20'000);
    EXPECT_EQ(latency::thread_locks() - before, 0) << to_string(timed);
  }
}
#endif

TEST(Replay, MakesNoSystemCall) {
  for (const Timed timed : kAll) {
    Replay replay(plan(), rows(), timed);
    const latency::SyscallProof proof = latency::prove_no_syscalls(replay.in_turn(), 20'000, 5000);
    if (proof.verdict == latency::SyscallVerdict::kUnavailable) GTEST_SKIP() << proof.text;
    EXPECT_TRUE(proof.none()) << to_string(timed) << ": " << proof.text;
  }
}

TEST(Replay, RefusesWhatCannotBeTimed) {
  EXPECT_THROW(Replay(plan(), rows(), Timed::kStep, 0), UsageError);
  EXPECT_THROW(timed_of("stap"), UsageError);
  for (const Timed timed : kAll) EXPECT_EQ(timed_of(to_string(timed)), timed);
  bundle::Bundle silent = preset_bundle("default_hft", 1, 1000);
  silent.golden.bars.resize(20);  // the features warm up for 61
  EXPECT_THROW(rows_of(engine::Plan::build(silent)), DataError);
}

}  // namespace
}  // namespace foxhunt::contract
