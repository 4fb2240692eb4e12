#include "foxhunt/latency/runner.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/latency/run_loop.h"

namespace foxhunt::latency {
namespace {

/// Steps of one slice at most; 200 us hold fewer than this unless a step takes 50 ns.
constexpr std::size_t kSliceSamples = 4096;

void check_time(const char* name, double value, bool zero_allowed) {
  if (std::isfinite(value) && (value > 0.0 || (zero_allowed && value == 0.0))) return;
  throw UsageError(
      fmt::format("[latency] {} = {}: must be {} 0", name, value, zero_allowed ? ">=" : ">"));
}

void check(const RunPlan& plan, bool has_work, std::int64_t events) {
  if (!has_work) throw UsageError("[latency] nothing to time: the work has no function");
  if (events < 1) throw UsageError(fmt::format("[latency] events = {}: must be >= 1", events));
  check_time("warm_seconds", plan.warm_seconds, true);
  check_time("seconds", plan.seconds, false);
  check_time("control_seconds", plan.control_seconds, true);
  check_time("slice_us", plan.slice_us, false);
  check_time("control_slice_us", plan.control_slice_us, false);
  check_time("keep_warm_guard_us", plan.keep_warm_guard_us, true);
  if (plan.most_samples < 1) {
    throw UsageError(fmt::format("[latency] most_samples = {}: must be >= 1", plan.most_samples));
  }
  if (plan.lead_in < 0) {
    throw UsageError(fmt::format("[latency] lead_in = {}: must be >= 0", plan.lead_in));
  }
}

LoopPlan in_ticks(const RunPlan& plan, const TscClock& clock) {
  return {.length = clock.ticks(plan.seconds * 1e9),
          .most_samples = plan.most_samples,
          .slice = clock.ticks(plan.slice_us * 1e3),
          .control = clock.ticks(plan.control_slice_us * 1e3),
          .stall = clock.ticks(kStallUs * 1e3),
          .lead_in = plan.lead_in,
          .keep_warm = plan.keep_warm,
          .guard = clock.ticks(plan.keep_warm_guard_us * 1e3)};
}

template <class Step>
Measurement run(const Step& step, const RunPlan& plan, const TscClock& clock) {
  Measurement found;
  found.schedule = plan.schedule.name();
  found.spaced = plan.schedule.spaced();
  const LoopPlan ticks_plan = in_ticks(plan, clock);
  std::vector<std::uint64_t> samples(kSliceSamples, 0);
  LoopResult result;
  TscTicks ticks;

  found.before = watch_for_hiccups(clock, plan.control_seconds);
  const std::int64_t event = warm_up(ticks, step, clock.ticks(plan.warm_seconds * 1e9), 0);
  found.core_before = measure_core_clock(clock);
  const std::int64_t allocations = plan.allocations != nullptr ? plan.allocations() : 0;
  const ThreadCounters counters = read_thread_counters();
  if (found.spaced) {
    run_spaced(ticks, clock, step, ticks_plan, plan.schedule, event, result);
  } else {
    run_back_to_back(ticks, clock, step, ticks_plan, event, samples, result);
  }
  found.counters = read_thread_counters() - counters;
  if (plan.allocations != nullptr) found.allocations = plan.allocations() - allocations;
  found.core_after = measure_core_clock(clock);
  found.after = watch_for_hiccups(clock, plan.control_seconds);

  found.all = std::move(result.all);
  found.quiet = std::move(result.quiet);
  found.during = result.during;
  found.stretches = result.stretches;
  found.quiet_stretches = result.quiet_stretches;
  found.late_events = result.late_events;
  found.seconds = clock.ns(result.ticks) * 1e-9;
  return found;
}

}  // namespace

HiccupStats Measurement::control() const noexcept {
  HiccupStats sum = before;
  sum.merge(during);
  sum.merge(after);
  return sum;
}

Measurement measure(const Work& work, const RunPlan& plan, const TscClock& clock) {
  check(plan, work.run != nullptr, 1);
  return run(PlainStep{work}, plan, clock);
}

Measurement measure(const EventWork& work, const RunPlan& plan, const TscClock& clock) {
  check(plan, work.run != nullptr, work.events);
  return run(EventStep{work}, plan, clock);
}

}  // namespace foxhunt::latency
