// The bench with instruments that say what a test wants: what it reports, refuses and fails.
#include "foxhunt/contract/step_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/contract/preset.h"
#include "foxhunt/latency/count_allocations.h"

namespace foxhunt::contract {
namespace {

using bundle::WeightForm;
using testing::HasSubstr;
using Json = nlohmann::json;

const bundle::Bundle& a_bundle() {
  static const bundle::Bundle kBundle = preset_bundle("default_hft", 1, 1000);
  return kBundle;
}

/// A clock of 1 GHz; every step takes `step_ns`.
struct Story {
  std::uint64_t step_ns = 4000;
  double floor_us = 3.0;
  double stalls_per_s = 0.0;
  std::int64_t allocations = 0;
  latency::ThreadCounters counters{};
  latency::SyscallProof proof{
      .verdict = latency::SyscallVerdict::kNone, .runs = 10, .text = "none"};
  latency::SyscallCount count{};
  std::vector<std::int64_t> floors{};  ///< bytes that were asked for
  std::vector<std::int64_t> events{};
  std::int64_t loads = 0;
};

latency::HiccupStats watched(const Story& story) {
  const double seconds = 1000.0;
  const auto stalls = static_cast<std::int64_t>(story.stalls_per_s * seconds);
  return {.watched_us = seconds * 1e6,
          .stalls = stalls,
          .stalled_us = 2.0 * static_cast<double>(stalls),
          .largest_us = 2.0};
}

latency::Measurement told(const Story& story, const latency::EventWork& work,
                          const latency::RunPlan& plan) {
  latency::Measurement m;
  m.schedule = plan.schedule.name();
  m.spaced = plan.schedule.spaced();
  for (std::int64_t event = 0; event < 20; ++event) {
    work.run(work.context, event);
    work.prepare(work.context, event + 1);
  }
  for (int i = 0; i < 20'000; ++i) m.all.record(story.step_ns);
  m.quiet.merge(m.all);
  m.before = watched(story);
  m.allocations = story.allocations;
  m.counters = story.counters;
  m.core_before = m.core_after = {.median_ghz = 3.0, .best_ghz = 3.0};
  return m;
}

Instruments instruments_of(Story& story) {
  return {.clock = latency::TscClock(1.0),
          .measure =
              [&story](const latency::EventWork& work, const latency::RunPlan& plan) {
                story.events.push_back(work.events);
                return told(story, work, plan);
              },
          .floor =
              [&story](std::int64_t bytes) {
                story.floors.push_back(bytes);
                return latency::StreamingFloor{
                    .bytes = bytes,
                    .floor_us = story.floor_us,
                    .gb_per_s = 100.0,
                    .fastest = "told",
                    .best_us = story.floor_us,
                    .contenders = {
                        {.name = "told", .median_us = story.floor_us, .best_us = story.floor_us}}};
              },
          .prove = [&story](const latency::Work&, std::int64_t) { return story.proof; },
          .count = [&story](const latency::Work&, std::int64_t) { return story.count; },
          .loads =
              [&story](const engine::PlanOptions&, std::span<const float>) {
                ++story.loads;
                return std::vector<LoadTimes>{{.read_ms = 1, .first_us = 8, .steady_us = 4}};
              }};
}

StepBenchOptions few() {
  StepBenchOptions options;
  options.sessions = 3;
  return options;
}

Report run(Story& story, const StepBenchOptions& options = few()) {
  return bench_step(a_bundle(), "a.fox", options, instruments_of(story));
}

TEST(StepBench, ReportsEveryScheduleOfEveryKindOfCall) {
  Story story;
  const Report report = run(story);
  ASSERT_EQ(report.forms.size(), 1U);
  const std::vector<std::string> schedules = {"back_to_back", "20us", "1ms", "round_robin_3"};
  ASSERT_EQ(report.forms[0].rows.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) {
    const ContractRow& row = report.forms[0].rows[i];
    EXPECT_EQ(row.row.schedule, schedules[i % 4]);
    EXPECT_EQ(row.timed, static_cast<Timed>(i / 4));
    EXPECT_EQ(row.sessions, i % 4 == 3 ? 3 : 1);
    EXPECT_DOUBLE_EQ(row.row.p50.us, 4.0);
    EXPECT_EQ(row.unanswered, 0);
  }
  EXPECT_TRUE(report.kept());
  EXPECT_TRUE(report.forms[0].verified) << report.forms[0].verify_what;
  EXPECT_EQ(report.forms[0].loads.first_ratio, 2.0);
  EXPECT_EQ(story.events[3], 3 * story.events[0]);  // each session its own records
  EXPECT_EQ(story.loads, 1);
  // Before and after, for a step and for an answer.
  const StepBytes& bytes = report.forms[0].bytes;
  EXPECT_THAT(story.floors,
              testing::ElementsAre(bytes.total(), bytes.read(), bytes.total(), bytes.read()));
}

TEST(StepBench, JsonHoldsTheFieldsThatProgramsRead) {
  Story story;
  const Json json = Json::parse(to_json(run(story)));
  for (const Json& row : json["rows"]) {
    EXPECT_EQ(row["model"], "a.fox");
    EXPECT_EQ(row["parameters"], 112'755);
    EXPECT_EQ(row["weights"], "fp32");
    EXPECT_TRUE(row["kernels"].is_string());
    EXPECT_TRUE(row["schedule"].is_string());
    for (const char* key : {"p10_us", "p50_us", "p99_us", "floor_us", "stalls_per_s"})
      EXPECT_TRUE(row[key].is_number_float()) << key;
    EXPECT_EQ(row["allocations"], 0);
    EXPECT_EQ(row["syscalls"], 0);
    EXPECT_EQ(row["bytes_per_step"].get<std::int64_t>(),
              row["bytes_read"].get<std::int64_t>() + row["bytes_written"].get<std::int64_t>());
    EXPECT_EQ(row["bytes_written"] == 0, row["timed"] == "answer");
  }
  EXPECT_EQ(json["rows"].size(), 12U);
  EXPECT_EQ(json["rows"][0]["timed"], "step");
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(to_json(run(story), -1).find('\n'), std::string::npos);
}

TEST(StepBench, AFigureBelowItsFloorIsABrokenBenchmark) {
  Story story;
  story.floor_us = 4.2;
  EXPECT_THROW(run(story), latency::BrokenBenchmarkError);
}

TEST(StepBench, APercentileThatTheMachineCannotSupportIsNotClaimed) {
  Story story;
  story.stalls_per_s = 5000;  // p99 of 4 us needs fewer than 2,500
  const Report report = run(story);
  const latency::LatencyRow& row = report.forms[0].rows[0].row;
  EXPECT_TRUE(row.p50.claimed());
  EXPECT_FALSE(row.p99.claimed());
  const Json json = Json::parse(to_json(report));
  EXPECT_TRUE(json["rows"][0]["p99_us"].is_null());
  EXPECT_THAT(json["rows"][0]["refused"]["p99_us"].get<std::string>(), HasSubstr("stalls/s"));
  EXPECT_TRUE(json["rows"][0]["floor_ratio"].is_number());
  EXPECT_THAT(to_text(report), HasSubstr("step fp32 back_to_back: n/a: "));
  story.stalls_per_s = 200'000;  // p50 needs fewer than 125,000
  const Json none = Json::parse(to_json(run(story)));
  EXPECT_TRUE(none["rows"][0]["p50_us"].is_null());
  EXPECT_TRUE(none["rows"][0]["floor_ratio"].is_null());
  EXPECT_TRUE(report.kept());  // the machine's fault and not the engine's
}

TEST(StepBench, EachCountThatMustBeZeroBreaksTheContract) {
  const auto broken_by = [](const std::function<void(Story&)>& change) {
    Story story;
    change(story);
    StepBenchOptions options = few();
    options.timed = {Timed::kEvent};
    const Report report = run(story, options);
    EXPECT_FALSE(report.kept());
    EXPECT_EQ(Json::parse(to_json(report))["ok"], false);
    EXPECT_THAT(to_text(report), HasSubstr("BROKEN event fp32 back_to_back"));
    EXPECT_EQ(report.broken().size(), 4U);  // a schedule each
    return report.broken().empty() ? std::string() : report.broken().front();
  };
  EXPECT_THAT(broken_by([](Story& s) { s.allocations = 3; }), HasSubstr("3 allocations"));
  EXPECT_THAT(broken_by([](Story& s) { s.counters.minor_faults = 2; }), HasSubstr("2 page faults"));
  EXPECT_THAT(broken_by([](Story& s) { s.counters.major_faults = 1; }), HasSubstr("1 page faults"));
  EXPECT_THAT(broken_by([](Story& s) {
                s.proof = {.verdict = latency::SyscallVerdict::kCalled, .text = "called"};
                s.count = {.calls = 7, .text = {}};
              }),
              HasSubstr("7 system calls"));
}

TEST(StepBench, ContextSwitchesAndUnmadeCountsAreToldAndBreakNothing) {
  Story story;
  story.counters.involuntary_switches = 9;
  story.proof = {.verdict = latency::SyscallVerdict::kUnavailable, .text = "not proven: forbidden"};
  const Report report = run(story);
  EXPECT_TRUE(report.kept());
  const Json row = Json::parse(to_json(report))["rows"][0];
  EXPECT_TRUE(row["syscalls"].is_null());
  EXPECT_EQ(row["involuntary_switches"], 9);
  EXPECT_THAT(to_text(report), HasSubstr("not proven: forbidden"));
}

TEST(StepBench, FormsThatCannotBePackedAreRefusedByName) {
  bundle::Bundle bundle = a_bundle();
  bundle.weights["backbone.layers.1.mixer.in_proj.weight"][5] = 1e6F;  // beyond a half
  Story story;
  StepBenchOptions options = few();
  options.forms = {WeightForm::kF16, WeightForm::kF32};
  const Report report = bench_step(bundle, "a.fox", options, instruments_of(story));
  ASSERT_EQ(report.forms.size(), 1U);
  EXPECT_EQ(report.forms[0].form, WeightForm::kF32);
  ASSERT_EQ(report.refused.size(), 1U);
  EXPECT_EQ(report.refused[0].weights, "fp16");
  EXPECT_THAT(to_text(report), HasSubstr("fp16 : refused: "));
  options.forms = {WeightForm::kF16};
  EXPECT_THROW(bench_step(bundle, "a.fox", options, instruments_of(story)), ConfigError);
  options.forms = {WeightForm::kF32};
  options.kernels = {"neon"};
  EXPECT_THROW(bench_step(bundle, "a.fox", options, instruments_of(story)), ConfigError);
}

TEST(StepBench, SaysWhenAFormDoesNotAnswerAsItsBundleProves) {
  bundle::Bundle bundle = a_bundle();
  for (float& v : bundle.golden.outputs) v += 0.5F;
  Story story;
  const Report report = bench_step(bundle, "a.fox", few(), instruments_of(story));
  EXPECT_FALSE(report.forms[0].verified);
  EXPECT_EQ(Json::parse(to_json(report))["rows"][0]["verified"], false);
  EXPECT_THAT(to_text(report), HasSubstr("largest difference"));
}

TEST(StepBench, RefusesOptionsThatTimeNothing) {
  Story story;
  StepBenchOptions options = few();
  options.timed.clear();
  EXPECT_THROW(run(story, options), UsageError);
  options = few();
  options.sessions = 1;
  EXPECT_THROW(run(story, options), UsageError);
}

// The real instruments, briefly: whatever the machine, what must be zero is.
TEST(StepBench, HoldsItsCountsWithRealInstruments) {
  StepBenchOptions options;
  options.seconds = options.warm_seconds = options.control_seconds = 0.02;
  options.floor_seconds = 0.05;
  options.sessions = 20;
  options.gaps_us = {20.0};
  options.loads = 0;
  options.proof_runs = 2000;
  options.allocations = latency::thread_allocations;
  options.keep_warm = true;
  const ReadBundle read = [] { return a_bundle(); };
  const Report report = bench_step(a_bundle(), "a.fox", options, real_instruments(read, options));
  ASSERT_EQ(report.forms[0].rows.size(), 9U);
  for (const ContractRow& row : report.forms[0].rows) {
    EXPECT_EQ(row.row.allocations, 0);
    EXPECT_EQ(row.unanswered, 0);
    EXPECT_GT(row.row.n, 0);
    EXPECT_EQ(row.row.syscalls.value_or(0), 0) << row.row.syscalls_text;
    EXPECT_EQ(row.keep_warm, row.row.schedule == "20us");
  }
}

}  // namespace
}  // namespace foxhunt::contract
