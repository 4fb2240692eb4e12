#pragma once
// What is timed: a plain call, so that nothing but the work itself stands in the timed region.

#include <cstdint>

namespace foxhunt::latency {

/// One step. `run` may be null only where a function says so.
struct Work {
  void (*run)(void* context) noexcept = nullptr;
  void* context = nullptr;
};

/// One step that is told which event it answers: `event` counts up from 0 and starts again after
/// `events`, so it is an index into prepared inputs. It is computed outside of the timed region.
struct EventWork {
  void (*run)(void* context, std::int64_t event) noexcept = nullptr;
  void* context = nullptr;
  std::int64_t events = 1;  ///< >= 1
  /// Brings the context before `event`, outside of the timed region; null: nothing to do. Called
  /// for each event that follows another; the caller does it for event 0 once, before the first
  /// run.
  void (*prepare)(void* context, std::int64_t event) noexcept = nullptr;
};

}  // namespace foxhunt::latency
