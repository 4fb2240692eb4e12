#pragma once
// Times a piece of work under a schedule, with the hiccup control on the same core.
//
// Order: control, warm-up by time, timed loop (run_loop.h) with the control interleaved, control.
// Everything the loop needs is allocated and touched before it starts; the loop itself makes no
// system call. The calling thread does all of it and should be pinned (pin.h).

#include <cstdint>
#include <optional>
#include <string>

#include "foxhunt/latency/core_clock.h"
#include "foxhunt/latency/hiccup.h"
#include "foxhunt/latency/histogram.h"
#include "foxhunt/latency/schedule.h"
#include "foxhunt/latency/thread_counters.h"
#include "foxhunt/latency/work.h"

namespace foxhunt::latency {

struct RunPlan {
  Schedule schedule = Schedule::back_to_back();
  /// By time, not by steps: cores need up to 1.6 s to reach their clock.
  double warm_seconds = 2.0;
  double seconds = 3.0;  ///< of the timed loop, control slices included
  std::int64_t most_samples = 100'000'000;
  double control_seconds = 0.5;  ///< before, and again after
  // Back to back only: slices of steps and of the control take turns.
  double slice_us = 200.0;
  double control_slice_us = 100.0;
  int lead_in = 4;  ///< untimed steps after a control slice: back to back means without a pause
  // Spaced only: what to do while waiting beside pausing, such as reading the weights.
  Work keep_warm{};
  double keep_warm_guard_us = 2.0;  ///< of quiet before an event is due
  /// Allocations of this thread so far (thread_allocations() of count_allocations.h); null: not
  /// counted.
  std::int64_t (*allocations)() noexcept = nullptr;
};

struct Measurement {
  std::string schedule;  ///< Schedule::name()
  bool spaced = false;
  Histogram all;    ///< ticks of the clock it was measured with
  Histogram quiet;  ///< those in quiet stretches, see run_loop.h
  HiccupStats before, during, after;
  std::int64_t stretches = 0;
  std::int64_t quiet_stretches = 0;
  std::int64_t late_events = 0;             ///< due before the step ahead of them was done
  ThreadCounters counters;                  ///< over the timed loop
  std::optional<std::int64_t> allocations;  ///< over the timed loop
  CoreClock core_before, core_after;
  double seconds = 0.0;  ///< of the timed loop

  HiccupStats control() const noexcept;  ///< before, during and after together
};

/// Errors  UsageError: no work, events < 1, a time that is not positive and finite (warm_seconds
/// and control_seconds may be 0), most_samples < 1, lead_in < 0.
Measurement measure(const Work& work, const RunPlan& plan, const TscClock& clock);
Measurement measure(const EventWork& work, const RunPlan& plan, const TscClock& clock);

}  // namespace foxhunt::latency
