#pragma once
// The processor's time-stamp counter as a clock: 8 to 20 ns a reading, without a system call.
//
// The counter runs at a constant rate that is not the core's clock (core_clock.h). A reading is
// rdtscp, which waits for every earlier instruction, then lfence, which holds back every later one.
// Stores before it may still sit in the store buffer: they are done for the thread that made them.

#include <x86intrin.h>

#include <cmath>
#include <cstdint>

namespace foxhunt::latency {

/// For both ends of a timed region.
inline std::uint64_t read_tsc() noexcept {
  unsigned core = 0;
  const std::uint64_t ticks = __rdtscp(&core);
  _mm_lfence();
  return ticks;
}

/// What CPUID says about the counter.
struct TscFacts {
  bool rdtscp = false;
  bool invariant = false;  ///< same rate in every power state (CPUID 8000_0007h, EDX bit 8)
};
TscFacts tsc_facts() noexcept;
/// Errors  DeviceError where there is no rdtscp or the rate changes: times would mean nothing.
void require_tsc(const TscFacts& facts);

/// A reading of the system's steady clock between two of the counter.
struct ClockBracket {
  std::uint64_t ticks_before = 0;
  std::uint64_t ticks_after = 0;
  std::int64_t steady_ns = 0;
};

/// Immutable; copy it freely.
class TscClock {
 public:
  /// `ticks_per_ns` > 0.
  explicit TscClock(double ticks_per_ns, double relative_error = 0.0, double pair_ns = 0.0);

  double ticks_per_ns() const noexcept { return ticks_per_ns_; }
  /// The rate is within this of the steady clock's over the calibration.
  double relative_error() const noexcept { return relative_error_; }
  /// Median of two readings in a row: what every timed region has too much. It is never subtracted.
  double pair_ns() const noexcept { return pair_ns_; }

  double ns(std::uint64_t ticks) const noexcept {
    return static_cast<double>(ticks) / ticks_per_ns_;
  }
  double us(std::uint64_t ticks) const noexcept { return ns(ticks) * 1e-3; }
  /// Rounded to the nearest tick; ns >= 0.
  std::uint64_t ticks(double ns) const noexcept {
    return static_cast<std::uint64_t>(std::llround(ns * ticks_per_ns_));
  }

 private:
  double ticks_per_ns_;
  double relative_error_;
  double pair_ns_;
};

/// The rate between two brackets. Its error is what the brackets leave open: the steady reading lay
/// somewhere inside of each, and was given in whole ns.
/// Errors  DeviceError where a clock did not run forward between them.
TscClock clock_between(const ClockBracket& first, const ClockBracket& last, double pair_ns = 0.0);

/// Calibrates against std::chrono::steady_clock over `seconds` > 0 on the calling thread, which
/// should be pinned. Errors  as require_tsc() and clock_between().
/// Cost    `seconds`, spinning; at 0.2 s the error is some 1e-6.
TscClock calibrate_tsc(double seconds = 0.2);

}  // namespace foxhunt::latency
