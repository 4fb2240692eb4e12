#include "foxhunt/train/bench_train/bench_run.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <new>

#include "foxhunt/base/rng.h"

namespace foxhunt::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// A machine of which a test says what a step takes; its clock is moved by steps alone.
class FakeMachine final : public BenchMachine {
 public:
  std::function<double(const BenchCase&)> step = [](const BenchCase& c) {
    return 0.01 * static_cast<double>(c.batch);
  };
  std::function<void(const BenchCase&)> making = [](const BenchCase&) {};
  std::function<std::int64_t(const BenchCase&)> peak = [](const BenchCase&) { return -1; };
  std::string kernels;  ///< empty: as asked
  double now = 100;
  std::int64_t steps = 0;

  std::unique_ptr<BenchProgram> make(const BenchCase& which) override {
    making(which);
    current = which;
    return std::make_unique<Program>(*this, which);
  }
  double reference = 0.001;  ///< seconds a program
  double seconds() override { return now; }
  void settle() override { ++settled; }
  void run_reference(const std::string& /*device*/, std::int64_t programs) override {
    packs.push_back(programs);
    now += reference * static_cast<double>(programs);
  }
  void run_reference_single(const std::string& /*device*/) override { now += 2 * reference; }
  std::int64_t settled = 0;
  std::vector<std::int64_t> packs;
  void start_watch(const std::string& /*device*/) override {}
  std::int64_t peak_bytes(const std::string& /*device*/) override { return peak(current); }
  double other_cores() override { return 0.25; }

  BenchCase current;

 private:
  struct Program final : BenchProgram {
    Program(FakeMachine& m, BenchCase c) : machine(m), which(std::move(c)) {}
    double step() override {
      machine.now += machine.step(which);
      ++machine.steps;
      return 1.0 / static_cast<double>(++done);
    }
    std::string kernels() const override {
      return machine.kernels.empty() ? which.kernels : machine.kernels;
    }
    FakeMachine& machine;
    BenchCase which;
    std::int64_t done = 0;
  };
};

std::vector<CaseRecord> cases(const std::vector<std::int64_t>& batches) {
  std::vector<CaseRecord> records;
  for (const std::int64_t batch : batches) {
    for (const char* kernels : {"native", "aten"})
      records.push_back({.which = {"cpu", "fp32", kernels, batch}});
  }
  return records;
}

TEST(BenchRun, EndsWithTwentyVisitsEachWhereNothingVaries) {
  FakeMachine machine;
  std::vector<CaseRecord> records = cases({1, 4});
  std::vector<std::string> order;
  RunEvents events;
  events.begins = [&](const BenchCase& which, std::int64_t) { order.push_back(which.key()); };
  run_cases(machine, records, {.budget_seconds = 1000}, events);
  ASSERT_EQ(order.size(), 80U);
  for (std::size_t i = 0; i < order.size(); ++i)  // turn by turn
    EXPECT_EQ(order[i], records[i % 4].which.key());
  for (const CaseRecord& record : records) {
    EXPECT_EQ(record.visits.size(), 20U);
    EXPECT_TRUE(is_done(record, {}));
    EXPECT_EQ(record.visits.back().other_cores, 0.25);
    EXPECT_GE(record.visits.back().losses.size(), 2U);
    EXPECT_NEAR(median_of(record.visits.back().seconds),
                0.01 * static_cast<double>(record.which.batch), 1e-12);
  }
}

TEST(BenchRun, TimesTheReferenceBeforeBetweenAndBehindStepsInPacksAsLongAsAStep) {
  FakeMachine machine;
  machine.step = [](const BenchCase&) { return 0.025; };
  std::vector<CaseRecord> records{{.which = {"cpu", "fp32", "native", 1}}};
  run_cases(machine, records, {.budget_seconds = 20}, {});
  for (const BenchVisit& visit : records[0].visits) {
    // Turns of 40 ms: two steps, and two packs of 25 programs; one turn more of packs than of
    // steps.
    EXPECT_EQ(visit.reference.size(), visit.seconds.size() + 2);
    EXPECT_EQ(visit.reference_single.size() * 2, visit.reference.size());
    EXPECT_NEAR(visit.reference.front(), 0.001, 1e-12);
    EXPECT_NEAR(visit.reference_single.front(), 0.002, 1e-12);
    EXPECT_NEAR(references_of(visit), 25, 1e-9);
  }
  EXPECT_THAT(machine.packs, testing::Contains(25));
  EXPECT_THAT(machine.packs, testing::Each(testing::AnyOf(1, 25)));  // 1: to learn how long one is
  EXPECT_GT(machine.settled, 0);
}

TEST(BenchRun, TheFirstOfManyStepsBehindAReferenceDoesNotCount) {
  FakeMachine machine;
  std::size_t packs = 0;
  machine.step = [&](const BenchCase&) {
    const bool first = machine.packs.size() != packs;
    packs = machine.packs.size();
    return first ? 0.05 : 0.001;  // the reference had the caches
  };
  std::vector<CaseRecord> records{{.which = {"cpu", "fp32", "native", 1}}};
  run_cases(machine, records, {.budget_seconds = 20}, {});
  // A turn of one long step ends at once: only turns of more than three leave out their first.
  machine.step = [&](const BenchCase&) {
    const bool first = machine.packs.size() != packs;
    packs = machine.packs.size();
    return first ? 0.02 : 0.001;
  };
  std::vector<CaseRecord> again{{.which = {"cpu", "fp32", "native", 1}}};
  run_cases(machine, again, {.budget_seconds = 20}, {});
  EXPECT_NEAR(median_of(records[0].visits[0].seconds), 0.05, 1e-12);
  for (const double s : again[0].visits[0].seconds) EXPECT_NEAR(s, 0.001, 1e-12);
}

TEST(BenchRun, KeepsToTheBudgetAndSharesItOut) {
  FakeMachine machine;
  Rng rng(5);
  machine.step = [&rng](const BenchCase&) { return 0.01 * std::exp(rng.normal()); };
  std::vector<CaseRecord> records = cases({1, 2, 3});
  const double start = machine.now;
  run_cases(machine, records, {.budget_seconds = 60, .target_share = 1e-6}, {});
  // The last visit may end a step late; a step is below 0.5 s.
  EXPECT_LT(machine.now - start, 60.5);
  EXPECT_GT(machine.now - start, 50);
  for (const CaseRecord& record : records) EXPECT_GE(record.visits.size(), 20U);
}

TEST(BenchRun, ANoisyCaseGetsMoreVisitsThanASteadyOne) {
  FakeMachine machine;
  Rng rng(6);
  double noise = 1;
  machine.making = [&](const BenchCase& c) {
    noise = c.kernels == "aten" ? 1 + 0.3 * rng.normal() : 1;
  };
  machine.step = [&](const BenchCase&) { return 0.01 * std::max(noise, 0.1); };
  std::vector<CaseRecord> records = cases({1});
  run_cases(machine, records, {.budget_seconds = 100}, {});
  EXPECT_EQ(records[0].visits.size(), 20U);
  EXPECT_GT(records[1].visits.size(), 20U);
}

TEST(BenchRun, LeavesOutWhatIsTooSlowForItsShare) {
  FakeMachine machine;
  machine.step = [](const BenchCase& c) { return 1.0 * static_cast<double>(c.batch); };
  std::vector<CaseRecord> records = cases({1, 1000});
  std::vector<std::string> left_out;
  RunEvents events;
  events.left_out = [&](const CaseRecord& r) { left_out.push_back(r.which.key()); };
  run_cases(machine, records, {.budget_seconds = 100}, events);
  EXPECT_THAT(left_out, ElementsAre("cpu/fp32/native/1000", "cpu/fp32/aten/1000"));
  EXPECT_THAT(records[2].left_out, StartsWith("too slow: a step would take about 1e+03 s"));
  EXPECT_TRUE(records[2].visits.empty());
  EXPECT_LT(machine.now, 100 + 120);
}

TEST(BenchRun, LeavesOutWhatSmallerBatchesSayDoesNotFit) {
  FakeMachine machine;
  machine.peak = [](const BenchCase& c) { return 100 + 100 * c.batch; };
  std::vector<CaseRecord> records = cases({1, 2, 4, 8, 16});
  RunLimits limits{.budget_seconds = 1000};
  limits.memory_bytes["cpu"] = 600;
  run_cases(machine, records, limits, {});
  for (const CaseRecord& record : records) {
    EXPECT_EQ(record.left_out.empty(), record.which.batch <= 4) << record.which.key();
    if (!record.left_out.empty()) {
      EXPECT_THAT(record.left_out, StartsWith("out of memory"));
    }
  }
  // One measured batch: at most in proportion.
  std::vector<CaseRecord> far = cases({1, 1000});
  run_cases(machine, far, limits, {});
  EXPECT_THAT(far[2].left_out, StartsWith("out of memory: would need about"));
  // An estimate goes before the line.
  std::vector<CaseRecord> again = cases({1, 2, 4, 8, 16});
  limits.estimate = [](const BenchCase& c) { return c.batch > 2 ? 2000 : 0; };
  run_cases(machine, again, limits, {});
  for (const CaseRecord& record : again)
    EXPECT_EQ(record.left_out.empty(), record.which.batch <= 2) << record.which.key();
}

TEST(BenchRun, MemoryThatIsRefusedEndsTheFamilyThere) {
  FakeMachine machine;
  std::vector<std::string> made;
  machine.making = [&](const BenchCase& c) {
    made.push_back(c.key());
    if (c.kernels == "aten" && c.batch >= 4) throw std::bad_alloc();
    if (c.batch >= 16) throw std::runtime_error("CUDA out of memory. Tried to allocate …");
  };
  std::vector<CaseRecord> records = cases({1, 4, 16});
  run_cases(machine, records, {.budget_seconds = 1000}, {});
  EXPECT_EQ(records[3].left_out, "out of memory at 4 windows");
  EXPECT_EQ(records[5].left_out, "out of memory already at 4 windows");
  EXPECT_EQ(records[4].left_out, "out of memory at 16 windows");
  EXPECT_THAT(made, testing::Not(testing::Contains("cpu/fp32/aten/16")));
}

TEST(BenchRun, OtherErrorsAreNotSwallowed) {
  FakeMachine machine;
  machine.making = [](const BenchCase&) { throw std::runtime_error("no such kernel"); };
  std::vector<CaseRecord> records = cases({1});
  EXPECT_THROW(run_cases(machine, records, {}, {}), std::runtime_error);
}

TEST(BenchRun, KernelsThatFellBackAreNotMeasuredUnderTheirName) {
  FakeMachine machine;
  machine.kernels = "aten";
  std::vector<CaseRecord> records = cases({1});
  run_cases(machine, records, {.budget_seconds = 100}, {});
  EXPECT_EQ(records[0].left_out, "no native kernels for it on cpu");
  EXPECT_EQ(records[1].visits.size(), 20U);
}

TEST(BenchRun, AnInterruptionDropsTheUnfinishedVisitAndTheNextRunGoesOn) {
  FakeMachine machine;
  std::vector<CaseRecord> records = cases({1, 2});
  RunEvents events;
  std::int64_t visited = 0;
  events.visited = [&](const CaseRecord&) { ++visited; };
  events.interrupted = [&] { return machine.steps >= 500; };
  run_cases(machine, records, {.budget_seconds = 100}, events);
  std::int64_t visits = 0;
  for (const CaseRecord& record : records)
    visits += static_cast<std::int64_t>(record.visits.size());
  EXPECT_EQ(visits, visited);
  EXPECT_GT(visits, 0);
  EXPECT_LT(visits, 80);
  const std::int64_t steps = machine.steps;
  events.interrupted = nullptr;
  run_cases(machine, records, {.budget_seconds = 100}, events);
  EXPECT_EQ(visited, 80);
  EXPECT_GT(machine.steps, steps);
  // What was measured counts against the budget; nothing is left to do.
  const double now = machine.now;
  run_cases(machine, records, {.budget_seconds = 100}, events);
  EXPECT_EQ(machine.now, now);
}

}  // namespace
}  // namespace foxhunt::train
