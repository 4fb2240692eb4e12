#pragma once
// What the machine does to a thread that asks for nothing: a spin on the counter that sees every
// moment in which the core was taken away (host, interrupts, other threads).
//
// A stall is a gap of more than 1 us between two readings in a row, which lie some 10 ns apart. It
// is counted on the same core before, between and after what is timed (run_loop.h); gaps between
// two watches are nobody's.

#include <cstdint>

#include "foxhunt/latency/tsc_clock.h"

namespace foxhunt::latency {

inline constexpr double kStallUs = 1.0;

/// Sums of one or more watches. All times in us of the clock that watched.
struct HiccupStats {
  double watched_us = 0.0;  ///< stalls included
  std::int64_t stalls = 0;
  double stalled_us = 0.0;  ///< the stalls together
  double largest_us = 0.0;

  void merge(const HiccupStats& other) noexcept;
  double stalls_per_s() const noexcept;  ///< 0 where nothing was watched
  double mean_stall_us() const noexcept;
  /// Upper 95 % bound of the rate, had the stalls come independently: 3 / T after none in T
  /// seconds. Infinite where nothing was watched. What a claim has to stand on: a short watch
  /// proves little.
  double stalls_per_s_bound() const;
};

/// Feed it every reading of one watch in order.
class HiccupWatch {
 public:
  /// `threshold` in ticks.
  HiccupWatch(std::uint64_t first_reading, std::uint64_t threshold) noexcept
      : start_(first_reading), last_(first_reading), threshold_(threshold) {}

  void see(std::uint64_t reading) noexcept {
    const std::uint64_t gap = reading - last_;
    if (gap > threshold_) {
      ++stalls_;
      stalled_ += gap;
      if (gap > largest_) largest_ = gap;
    }
    last_ = reading;
  }
  /// The time since the last reading was spent on something else.
  void look_away_until(std::uint64_t reading) noexcept {
    away_ += reading - last_;
    last_ = reading;
  }

  std::int64_t stalls() const noexcept { return stalls_; }
  HiccupStats stats(const TscClock& clock) const noexcept;

 private:
  std::uint64_t start_;
  std::uint64_t last_;
  std::uint64_t threshold_;
  std::uint64_t away_ = 0;
  std::uint64_t stalled_ = 0;
  std::uint64_t largest_ = 0;
  std::int64_t stalls_ = 0;
};

/// Spins on the calling thread for `seconds`.
HiccupStats watch_for_hiccups(const TscClock& clock, double seconds);

}  // namespace foxhunt::latency
