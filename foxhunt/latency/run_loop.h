#pragma once
// The timed loops, over any source of ticks, so that tests can drive them with a clock of their
// own.
//
// A source has read() (fenced: both ends of a timed region), spin() (a cheap reading for waits) and
// pause(). Between the two readings of a region lies the call of the work and nothing else: event
// numbers are computed before, results stored after.
//
// Quiet stretch: what was timed between two watches of the hiccup control that both saw no stall.
// Back to back a stretch is a slice of steps between two control slices; spaced it is one event
// between the waits around it, which are the control. Stretches are chosen by the control alone and
// never by what the work took, so a slow step of the work's own making stays in.

#include <cstdint>
#include <span>

#include "foxhunt/latency/loop_plan.h"
#include "foxhunt/latency/schedule.h"

namespace foxhunt::latency {

/// Runs steps untimed for `length` ticks; at least one. Returns the next event.
template <class Ticks, class Step>
std::int64_t warm_up(Ticks& ticks, const Step& step, std::uint64_t length, std::int64_t event) {
  const std::uint64_t start = ticks.spin();
  do {
    step(event);
    event = step.next(event);
  } while (ticks.spin() - start < length);
  return event;
}

/// One control slice; returns the stalls in it.
template <class Ticks>
std::int64_t watch_slice(Ticks& ticks, const TscClock& clock, const LoopPlan& plan,
                         LoopResult& out) {
  const std::uint64_t start = ticks.spin();
  HiccupWatch watch(start, plan.stall);
  for (std::uint64_t now = start; now - start < plan.control;) {
    now = ticks.spin();
    watch.see(now);
  }
  out.during.merge(watch.stats(clock));
  return watch.stalls();
}

/// `samples` holds the ticks of one slice: it bounds the steps in it.
template <class Ticks, class Step>
void run_back_to_back(Ticks& ticks, const TscClock& clock, const Step& step, const LoopPlan& plan,
                      std::int64_t event, std::span<std::uint64_t> samples, LoopResult& out) {
  const std::uint64_t start = ticks.spin();
  std::int64_t stalls_before = watch_slice(ticks, clock, plan, out);
  do {
    for (int i = 0; i < plan.lead_in; ++i, event = step.next(event)) step(event);
    std::size_t taken = 0;
    const std::uint64_t slice_start = ticks.spin();
    for (std::uint64_t end = slice_start; taken < samples.size() && end - slice_start < plan.slice;
         event = step.next(event)) {
      const std::uint64_t begin = ticks.read();
      step(event);
      end = ticks.read();
      samples[taken++] = end - begin;
    }
    const std::int64_t stalls_after = watch_slice(ticks, clock, plan, out);
    const bool quiet = stalls_before == 0 && stalls_after == 0;
    for (const std::uint64_t sample : samples.first(taken)) {
      out.all.record(sample);
      if (quiet) out.quiet.record(sample);
    }
    ++out.stretches;
    out.quiet_stretches += quiet ? 1 : 0;
    stalls_before = stalls_after;
    out.ticks = ticks.spin() - start;
  } while (out.ticks < plan.length && out.all.count() < plan.most_samples);
}

/// A wait, and what the control saw in it; nothing where `due` had passed.
struct Wait {
  bool waited = false;
  HiccupWatch watch;
  bool quiet() const noexcept { return waited && watch.stalls() == 0; }
};

template <class Ticks>
Wait wait_until(Ticks& ticks, const LoopPlan& plan, std::uint64_t due) {
  std::uint64_t now = ticks.spin();
  Wait wait{.waited = now < due, .watch = HiccupWatch(now, plan.stall)};
  while (now < due) {
    if (plan.keep_warm.run != nullptr && due - now > plan.guard) {
      plan.keep_warm.run(plan.keep_warm.context);
      wait.watch.look_away_until(ticks.spin());
    }
    ticks.pause();
    now = ticks.spin();
    wait.watch.see(now);
  }
  return wait;
}

template <class Ticks, class Step>
void run_spaced(Ticks& ticks, const TscClock& clock, const Step& step, const LoopPlan& plan,
                const Schedule& schedule, std::int64_t event, LoopResult& out) {
  const std::uint64_t start = ticks.spin();
  std::uint64_t earlier = 0;  // the sample before this one
  bool quiet_before = false;
  for (std::int64_t i = 0; out.ticks < plan.length && out.all.count() < plan.most_samples; ++i) {
    const std::uint64_t due = start + clock.ticks(schedule.due_ns(i));
    const Wait wait = wait_until(ticks, plan, due);
    step(event);
    const std::uint64_t done = ticks.read();
    // Only now is the event before known to lie between two quiet waits; storing it ahead of the
    // step would be charged to the step.
    if (quiet_before && wait.quiet()) {
      out.quiet.record(earlier);
      ++out.quiet_stretches;
    }
    earlier = done - due;
    quiet_before = wait.quiet();
    out.all.record(earlier);
    out.during.merge(wait.watch.stats(clock));
    out.late_events += wait.waited ? 0 : 1;
    ++out.stretches;
    out.ticks = done - start;
    event = step.next(event);
  }
}

}  // namespace foxhunt::latency
