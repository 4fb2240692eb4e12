// One stream over records: the features' statuses, the state's life, save and restore.
#include "foxhunt/engine/session.h"

#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "foxhunt/base/error.h"

#include "tests/engine/proven_bundle.h"

namespace foxhunt::engine {
namespace {

using bundle::WeightForm;
using test::a_market;
using test::Answer;

std::shared_ptr<const Plan> plan_of(WeightForm form = WeightForm::kF32,
                                    const std::string& kernels = {}) {
  return Plan::build(bundle::test::small_bundle(), {.kernels = kernels, .form = form});
}

Answer answer_of(Session& session, const market::Bar& bar) {
  Answer a{.status = {},
           .out = std::vector<float>(static_cast<std::size_t>(session.plan().n_outputs()))};
  a.status = session.on_event(bar, a.out);
  return a;
}

TEST(Session, GivesEveryRecordAStatusAndReadyOnesAnAnswer) {
  Session session(plan_of());
  std::int64_t ready = 0;
  for (const market::Bar& bar : a_market()) {
    const Answer a = answer_of(session, bar);
    if (a.status == Status::kReady) ++ready;
    EXPECT_TRUE(std::ranges::all_of(a.out, [](float v) { return std::isfinite(v); }));
  }
  const features::PushCounters& counters = session.counters();
  EXPECT_EQ(counters.ready, ready);
  EXPECT_GT(ready, 100);
  EXPECT_EQ(counters.bad(), 1);
  EXPECT_EQ(counters.unordered(), 1);
  EXPECT_EQ(counters.new_session, 2);
  EXPECT_EQ(counters.long_gap, 1);
}

TEST(Session, AnswersFromTheFeaturesItWouldGetOneByOne) {
  const auto plan = plan_of();
  Session by_record(plan);
  Session by_row(plan);
  features::FeaturePipeline pipeline = features::test::make_pipeline();
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  std::vector<float> out(static_cast<std::size_t>(plan->n_outputs()));
  for (const market::Bar& bar : a_market()) {
    const features::PushResult pushed = pipeline.push(bar, row);
    if (pushed.starts_sequence) by_row.reset();
    const Answer a = answer_of(by_record, bar);
    if (pushed.status != features::Status::kReady) continue;
    ASSERT_EQ(by_row.step(row, out), Status::kReady);
    ASSERT_EQ(a.out, out);
  }
}

TEST(Session, ANewSequenceStartsFromNothing) {
  const auto plan = plan_of();
  const std::vector<market::Bar> bars = a_market();
  Session whole(plan);
  for (const market::Bar& bar : bars) answer_of(whole, bar);
  Session last_day(plan);
  Answer a{};
  for (auto bar = bars.end() - 100; bar != bars.end(); ++bar) a = answer_of(last_day, *bar);
  Session again(plan);
  Answer b{};
  for (const market::Bar& bar : bars) b = answer_of(again, bar);
  EXPECT_EQ(a, b);
  EXPECT_EQ(last_day.position(), whole.position());
}

TEST(Session, AnswerThenAdvanceGivesTheBitsOfOnEvent) {
  const auto plan = plan_of();
  Session together(plan);
  Session apart(plan);
  std::vector<float> out(static_cast<std::size_t>(plan->n_outputs()));
  std::int64_t i = 0;
  for (const market::Bar& bar : a_market()) {
    const Answer want = answer_of(together, bar);
    std::ranges::fill(out, 0.0F);
    const Status status = apart.answer(bar, out);
    ASSERT_EQ(status, want.status);
    ASSERT_EQ(out, want.out);
    if (++i % 3 != 0) apart.advance();  // forgotten, the next record does it
    ASSERT_EQ(together.save(), apart.save()) << "record " << i;
  }
}

TEST(Session, GoesOnAfterARestartAtAnyRecordWithTheSameBits) {
  for (const WeightForm form : {WeightForm::kF32, WeightForm::kI8}) {
    const auto plan = plan_of(form);
    const std::vector<market::Bar> bars = a_market();
    std::vector<Answer> want;
    Session whole(plan);
    for (const market::Bar& bar : bars) want.push_back(answer_of(whole, bar));
    Session running(plan);
    for (std::size_t i = 0; i < bars.size(); ++i) {
      // A restart before every record: state to bytes, process gone, bytes to a new session.
      const std::vector<std::byte> state = running.save();
      Session restarted(plan);
      restarted.restore(state);
      running = std::move(restarted);
      ASSERT_EQ(answer_of(running, bars[i]), want[i]) << "record " << i;
    }
    EXPECT_EQ(running.save(), whole.save());
  }
}

TEST(Session, ACopyIsAStreamOfItsOwn) {
  const auto plan = plan_of();
  const std::vector<market::Bar> bars = a_market();
  Session one(plan);
  for (std::size_t i = 0; i < 50; ++i) answer_of(one, bars[i]);
  Session two(one);
  std::vector<Answer> a;
  for (std::size_t i = 50; i < 90; ++i) a.push_back(answer_of(one, bars[i]));
  for (std::size_t i = 50; i < 90; ++i) ASSERT_EQ(answer_of(two, bars[i]), a[i - 50]);
}

TEST(Session, RefusesStatesOfOthersAndStaysAsItWas) {
  const auto plan = plan_of();
  Session session(plan);
  const std::vector<market::Bar> bars = a_market();
  for (std::size_t i = 0; i < 80; ++i) answer_of(session, bars[i]);
  const std::vector<std::byte> state = session.save();
  const auto message = [](Session& into, std::span<const std::byte> bytes) {
    const std::vector<std::byte> before = into.save();
    try {
      into.restore(bytes, "a.state");
    } catch (const FormatError& error) {
      EXPECT_EQ(into.save(), before);
      return std::string(error.what());
    }
    return std::string();
  };
  Session other(Plan::build(bundle::test::small_bundle(2), {.form = WeightForm::kF32}));
  EXPECT_NE(message(other, state).find("a.state"), std::string::npos);
  EXPECT_NE(message(other, state).find("model"), std::string::npos);
  Session narrow(plan_of(WeightForm::kI8));
  EXPECT_NE(message(narrow, state).find("weights fp32"), std::string::npos);
  for (std::size_t n = 0; n < state.size(); ++n) {
    ASSERT_NE(message(session, std::span(state).first(n)), "") << n << " bytes";
  }
  std::vector<std::byte> damaged = state;
  Rng rng(9);
  for (int i = 0; i < 500; ++i) {
    const auto at = static_cast<std::size_t>(rng.below(state.size()));
    damaged[at] ^= std::byte{static_cast<unsigned char>(1U << rng.below(8))};
    ASSERT_NE(message(session, damaged), "") << "byte " << at;
    damaged[at] = state[at];
  }
}

TEST(Session, InputThatIsNotFiniteChangesNothing) {
  const auto plan = plan_of();
  Session session(plan);
  std::vector<float> row(static_cast<std::size_t>(plan->n_features()), 0.5F);
  std::vector<float> out(static_cast<std::size_t>(plan->n_outputs()));
  ASSERT_EQ(session.step(row, out), Status::kReady);
  const std::vector<std::byte> before = session.save();
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    row.back() = bad;
    std::ranges::fill(out, 7.0F);
    EXPECT_EQ(session.step(row, out), Status::kBadInput);
    EXPECT_EQ(session.save(), before);
    EXPECT_EQ(out[0], 7.0F);
  }
}

TEST(Session, StepManyGivesTheBitsOfEachAlone) {
  for (const WeightForm form :
       {WeightForm::kF32, WeightForm::kF16, WeightForm::kBF16, WeightForm::kI8}) {
    const auto plan = plan_of(form);
    constexpr std::size_t kSessions = 11;
    const auto F = static_cast<std::size_t>(plan->n_features());
    const auto K = static_cast<std::size_t>(plan->n_outputs());
    std::vector<Session> alone(kSessions, Session(plan));
    std::vector<Session> together(kSessions, Session(plan));
    std::vector<Session*> pointers;
    for (Session& s : together) pointers.push_back(&s);
    Rng rng(4);
    for (int t = 0; t < 20; ++t) {
      std::vector<float> rows(kSessions * F);
      for (float& v : rows) v = static_cast<float>(rng.uniform(-3, 3));
      rows[5 * F] = std::numeric_limits<float>::quiet_NaN();
      std::vector<float> out(kSessions * K, 9.0F);
      std::vector<Status> statuses(kSessions);
      step_many(pointers, rows, out, statuses);
      for (std::size_t i = 0; i < kSessions; ++i) {
        std::vector<float> one(K, 9.0F);
        EXPECT_EQ(alone[i].step({rows.data() + i * F, F}, one), statuses[i]);
        EXPECT_EQ(std::vector<float>(out.data() + i * K, out.data() + (i + 1) * K), one);
      }
    }
  }
}

TEST(Session, LeavesTheRoundingModeOfTheCallerAlone) {
  constexpr unsigned kModes = ~0x3fU;  // without the flags of what happened so far
  const unsigned before = _mm_getcsr() & kModes;
  Session session(plan_of());
  for (const market::Bar& bar : a_market()) answer_of(session, bar);
  EXPECT_EQ(_mm_getcsr() & kModes, before);
}

/// Least time of a thousand steps, over `rounds` thousands.
std::chrono::nanoseconds least_time(Session& session, std::span<const float> row, int rounds) {
  std::vector<float> out(static_cast<std::size_t>(session.plan().n_outputs()));
  auto least = std::chrono::nanoseconds::max();
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) session.step(row, out);
    least = std::min(least, std::chrono::nanoseconds(std::chrono::steady_clock::now() - start));
  }
  return least;
}

TEST(Session, LongTenMillionStepsOfAQuietMarketDoNotSlowDown) {
  for (const WeightForm form : {WeightForm::kF32, WeightForm::kI8}) {
    Session session(plan_of(form));
    const auto F = static_cast<std::size_t>(session.plan().n_features());
    // A shock, and then nothing: the state fades towards numbers that are slow on some CPUs.
    const std::vector<float> shock(F, 5.0F);
    const std::vector<float> quiet(F, 0.0F);
    const auto busy = least_time(session, shock, 1000);
    least_time(session, quiet, 9000);
    const auto late = least_time(session, quiet, 1000);
    // The least of a thousand runs on either side: what else the machine does is not in them. A
    // denormal operand costs over a hundred cycles where it costs anything.
    EXPECT_LT(late, 1.3 * busy);
  }
}

TEST(Session, ManyReadersShareOnePlan) {
  const auto plan = plan_of();
  std::vector<Session> sessions(1000, Session(plan));
  const std::vector<market::Bar> bars = a_market();
  Session one(plan);
  for (std::size_t i = 0; i < 40; ++i) {
    const Answer want = answer_of(one, bars[i]);
    for (Session& s : sessions) ASSERT_EQ(answer_of(s, bars[i]), want);
  }
}

TEST(Verify, HoldsUnderEveryTable) {
  for (const kernels::StepKernels* table : kernels::built_step_kernels()) {
    if (!table->runs_here()) continue;
    const VerifyReport report =
        verify(Plan::build(test::proven_bundle(), {.kernels = table->name}));
    EXPECT_TRUE(report.ok) << report.what;
    EXPECT_EQ(report.kernels, std::string(table->name) + ", products " + table->name);
    EXPECT_GT(report.parity.rows, 100);
    EXPECT_LT(report.parity.max_difference, 1e-5);
    EXPECT_EQ(report.parity.sequences, 3);
  }
}

TEST(Verify, SaysWhatDiffers) {
  bundle::Bundle changed = test::proven_bundle();
  for (float& v : changed.golden.outputs) v += 0.01F;
  EXPECT_NE(verify(Plan::build(changed)).what.find("largest difference"), std::string::npos);
  changed = test::proven_bundle();
  const auto last = std::ranges::find(changed.golden.ready, 1) - changed.golden.ready.begin();
  changed.golden.ready[static_cast<std::size_t>(last)] = 0;
  changed.golden.outputs.resize(changed.golden.outputs.size() - 3);
  const VerifyReport report = verify(Plan::build(changed));
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(report.status_differences, 1);
  EXPECT_NE(report.what.find("record " + std::to_string(last)), std::string::npos) << report.what;
}

}  // namespace
}  // namespace foxhunt::engine
