#pragma once
// What the timed loops (run_loop.h) are told and what they find.

#include <cstdint>

#include "foxhunt/latency/hiccup.h"
#include "foxhunt/latency/histogram.h"
#include "foxhunt/latency/work.h"

namespace foxhunt::latency {

struct TscTicks {
  std::uint64_t read() noexcept { return read_tsc(); }
  std::uint64_t spin() noexcept { return __rdtsc(); }
  void pause() noexcept { _mm_pause(); }
};

struct PlainStep {
  Work work;
  void operator()(std::int64_t /*event*/) const noexcept { work.run(work.context); }
  std::int64_t next(std::int64_t /*event*/) const noexcept { return 0; }
};
struct EventStep {
  EventWork work;
  void operator()(std::int64_t event) const noexcept { work.run(work.context, event); }
  std::int64_t next(std::int64_t event) const noexcept {
    const std::int64_t following = event + 1 < work.events ? event + 1 : 0;
    if (work.prepare != nullptr) work.prepare(work.context, following);
    return following;
  }
};

/// In ticks, except `most_samples` and `lead_in`.
struct LoopPlan {
  std::uint64_t length = 0;  ///< the loop ends with the first stretch that passes this
  std::int64_t most_samples = 0;
  std::uint64_t slice = 0;    ///< of steps, back to back
  std::uint64_t control = 0;  ///< slice of the control, back to back
  std::uint64_t stall = 0;    ///< a longer gap is a stall
  int lead_in = 0;          ///< steps after a control slice that are not timed: they follow a pause
  Work keep_warm;           ///< called again and again while waiting, if any
  std::uint64_t guard = 0;  ///< keep_warm is not called this shortly before an event is due
};

struct LoopResult {
  Histogram all;    ///< ticks
  Histogram quiet;  ///< those of quiet stretches
  HiccupStats during;
  std::int64_t stretches = 0;
  std::int64_t quiet_stretches = 0;
  std::int64_t late_events = 0;  ///< due before the step ahead of them was done
  std::uint64_t ticks = 0;       ///< the whole loop
};

}  // namespace foxhunt::latency
