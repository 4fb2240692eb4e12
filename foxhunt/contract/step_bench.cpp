#include "foxhunt/contract/step_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "foxhunt/base/build_info.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/base/time.h"
#include "foxhunt/engine/verify.h"
#include "foxhunt/model/tensor_list.h"

namespace foxhunt::contract {
namespace {

using latency::Measurement;
using latency::Schedule;
using latency::StreamingFloor;
using PlanPointer = std::shared_ptr<const engine::Plan>;

constexpr std::int64_t kWarmProofRuns = 2'000;
constexpr std::int64_t kCountedRuns = 1'000;  // under ptrace each call costs two switches

double load_average() {
  double load = 0.0;
  return ::getloadavg(&load, 1) == 1 ? load : -1.0;
}

struct Found {
  Timed timed;
  std::int64_t sessions;
  Measurement measured;
  std::int64_t unanswered;
};

struct Syscalls {
  latency::SyscallProof proof;
  latency::SyscallCount count;
};

/// One form under one table.
class FormBench {
 public:
  FormBench(PlanPointer plan, std::string name, const StepBenchOptions& options,
            const Instruments& instruments)
      : plan_(std::move(plan)),
        name_(std::move(name)),
        options_(options),
        instruments_(instruments),
        rows_(rows_of(plan_)) {}

  FormReport run(bool own_form, const engine::PlanOptions& chosen) {
    FormReport report;
    report.form = plan_->form();
    report.kernels = plan_->kernels();
    report.bytes = step_bytes(*plan_);
    report.own_form = own_form;
    const engine::VerifyReport verified = engine::verify(plan_);
    report.verified = verified.ok;
    report.verify_what = verified.what;
    report.max_difference = verified.parity.max_difference;
    if (options_.loads > 0) {
      say("loads");
      report.loads = summary_of(instruments_.loads(chosen, rows_.features));
    }
    // Proofs fork, after which each page that is written costs a fault once: not between the loops.
    std::vector<Syscalls> syscalls;
    for (const Timed timed : options_.timed) syscalls.push_back(proven(timed));
    say("floor");
    Floors floors = measure_floors(report.bytes);
    const std::vector<Found> found = measure_all();
    say("floor again");
    floors = floors.lower(measure_floors(report.bytes));
    for (const Found& f : found) report.rows.push_back(row_of(f, floors));
    for (ContractRow& row : report.rows) {
      const auto at = std::ranges::find(options_.timed, row.timed) - options_.timed.begin();
      const Syscalls& calls = syscalls[static_cast<std::size_t>(at)];
      if (options_.proof_runs > 0) latency::set_syscalls(row.row, calls.proof, calls.count);
    }
    return report;
  }

 private:
  struct Floors {
    StreamingFloor step;    ///< all that is read and written
    StreamingFloor answer;  ///< what the answer waits for
    Floors lower(const Floors& other) const {
      return {latency::lower_of(step, other.step), latency::lower_of(answer, other.answer)};
    }
    const StreamingFloor& of(Timed timed) const { return timed == Timed::kAnswer ? answer : step; }
  };

  void say(const std::string& what) const {
    if (interrupted()) throw InterruptedError("[contract] stopped; nothing was written");
    if (options_.say)
      options_.say(
          fmt::format("{} ({}): {}", bundle::to_string(plan_->form()), plan_->kernels(), what));
  }

  Floors measure_floors(const StepBytes& bytes) const {
    return {instruments_.floor(bytes.total()), instruments_.floor(bytes.read())};
  }

  Syscalls proven(Timed timed) const {
    if (options_.proof_runs == 0) return {};
    Replay replay(plan_, rows_, timed);
    const latency::Work work = replay.in_turn();
    Syscalls calls{.proof = instruments_.prove(work, options_.proof_runs), .count = {}};
    if (!calls.proof.none()) calls.count = instruments_.count(work, kCountedRuns);
    return calls;
  }

  std::vector<Found> measure_all() {
    std::vector<Found> found;
    for (const Timed timed : options_.timed) {
      Replay one(plan_, rows_, timed);
      found.push_back(measured(one, timed, 1, Schedule::back_to_back()));
      for (const double gap : options_.gaps_us)
        found.push_back(measured(one, timed, 1, Schedule::fixed(gap)));
      if (options_.sessions == 0) continue;
      Replay many(plan_, rows_, timed, options_.sessions);
      found.push_back(measured(many, timed, options_.sessions, Schedule::back_to_back()));
    }
    return found;
  }

  Found measured(Replay& replay, Timed timed, std::int64_t sessions, Schedule schedule) {
    say(fmt::format("{} {}{}", to_string(timed), schedule.name(),
                    sessions > 1 ? fmt::format(", {} sessions", sessions) : ""));
    Replay touch(plan_, rows_, Timed::kStep);
    latency::RunPlan run;
    run.schedule = std::move(schedule);
    run.seconds = options_.seconds;
    run.warm_seconds = warm_ ? options_.warm_seconds / 4 : options_.warm_seconds;
    run.control_seconds = options_.control_seconds;
    run.allocations = options_.allocations;
    if (options_.keep_warm && run.schedule.spaced()) run.keep_warm = touch.in_turn();
    warm_ = true;
    const std::int64_t before = replay.unanswered();
    Measurement measurement = instruments_.measure(replay.work(), run);
    return {timed, sessions, std::move(measurement), replay.unanswered() - before};
  }

  ContractRow row_of(const Found& found, const Floors& floors) const {
    const bundle::Bundle& bundle = plan_->bundle();
    const StepBytes bytes = step_bytes(*plan_);
    const latency::RowSubject subject{
        .model = name_,
        .parameters = model::parameter_count(bundle.config, bundle.head),
        .weights = std::string(bundle::to_string(plan_->form())),
        .kernels = plan_->kernels(),
        .bytes_per_step = found.timed == Timed::kAnswer ? bytes.read() : bytes.total(),
        .page_size = "not known",
        .cpu = this_machine().cpu_model};
    ContractRow row{.row = latency::make_row(subject, found.measured, floors.of(found.timed),
                                             instruments_.clock),
                    .timed = found.timed,
                    .sessions = found.sessions,
                    .keep_warm = options_.keep_warm && found.measured.spaced,
                    .unanswered = found.unanswered};
    if (found.sessions > 1) row.row.schedule = fmt::format("round_robin_{}", found.sessions);
    return row;
  }

  PlanPointer plan_;
  std::string name_;
  const StepBenchOptions& options_;
  const Instruments& instruments_;
  Rows rows_;
  bool warm_ = false;
};

void check(const StepBenchOptions& options) {
  if (options.timed.empty() || options.kernels.empty())
    throw UsageError("[contract] nothing to time: no kind of call, or no kernel table");
  if (options.sessions < 0 || options.sessions == 1)
    throw UsageError(
        fmt::format("[contract] {} sessions cannot take turns: 0 or at least 2", options.sessions));
}

}  // namespace

Instruments real_instruments(const ReadBundle& read, const StepBenchOptions& options) {
  const latency::TscClock clock = latency::calibrate_tsc();
  return {.clock = clock,
          .measure =
              [clock](const latency::EventWork& work, const latency::RunPlan& plan) {
                return latency::measure(work, plan, clock);
              },
          .floor =
              [clock, seconds = options.floor_seconds](std::int64_t bytes) {
                return latency::measure_streaming_floor(bytes, clock, seconds);
              },
          .prove =
              [](const latency::Work& work, std::int64_t runs) {
                return latency::prove_no_syscalls(work, runs, kWarmProofRuns);
              },
          .count =
              [](const latency::Work& work, std::int64_t runs) {
                return latency::count_syscalls(work, runs, kWarmProofRuns);
              },
          .loads =
              [read, loads = options.loads](const engine::PlanOptions& chosen,
                                            std::span<const float> features) {
                return time_loads(read, chosen, features, loads);
              }};
}

Report bench_step(const bundle::Bundle& bundle, const std::string& name,
                  const StepBenchOptions& options, const Instruments& instruments) {
  check(options);
  Report report{.model = name,
                .id = bundle.id,
                .model_id = {},
                .cpu = this_machine().cpu_model,
                .measured_at = foxhunt::to_string(std::chrono::floor<std::chrono::seconds>(now())),
                .revision = std::string(git_revision()),
                .load_before = load_average(),
                .grants = options.grants,
                .forms = {},
                .refused = {}};
  const std::vector<bundle::WeightForm> forms =
      options.forms.empty() ? std::vector{bundle.form} : options.forms;
  for (const std::string& table : options.kernels) {
    for (const bundle::WeightForm form : forms) {
      const engine::PlanOptions chosen{.kernels = table, .form = form};
      PlanPointer plan;
      try {
        plan = engine::Plan::build(bundle, chosen);
      } catch (const ConfigError& error) {
        report.refused.push_back(
            {std::string(bundle::to_string(form)), table, std::string(error.what())});
        continue;
      }
      report.model_id = plan->model_id();
      report.forms.push_back(
          FormBench(plan, name, options, instruments).run(form == bundle.form, chosen));
    }
  }
  report.load_after = load_average();
  if (report.forms.empty())
    throw ConfigError(fmt::format("[contract] nothing can be timed: {}", report.refused[0].why));
  return report;
}

}  // namespace foxhunt::contract
