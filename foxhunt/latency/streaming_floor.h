#pragma once
// The time below which no step can be: reading its working set once, measured on this core now.
//
// Several loops compete over the same warm, 2 MB-aligned buffer of exactly that size; each is timed
// pass by pass with the clock that times steps, and the floor is the smallest of their medians. A
// step also computes and writes, so it lies above; a figure below is a broken benchmark (work left
// out by the compiler, bytes counted twice, a wrong clock).
//
// kernels/hardware/bandwidth.h answers another question: the rate of a cache level over many passes
// of half its size. A floor needs one pass of this very size, pair of clock readings included.

#include <cstdint>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/latency/tsc_clock.h"

namespace foxhunt::latency {

struct FloorContender {
  std::string name;  ///< of stream_readers()
  double median_us = 0.0;
  double best_us = 0.0;
};

struct StreamingFloor {
  std::int64_t bytes = 0;  ///< read in a pass: what was asked, rounded down to whole KB, at least 1
  double floor_us = 0.0;   ///< smallest median
  double gb_per_s = 0.0;   ///< 1e9 bytes a second at floor_us
  std::string fastest;     ///< whose median that is
  double best_us = 0.0;    ///< the fastest pass of all contenders
  std::vector<FloorContender> contenders;
};

/// Runs contenders in turns, so that a change of the core's clock meets all of them.
/// Cost    `seconds` together, a warm-up of a tenth of it included. Errors  UsageError: bytes < 1
/// or seconds not positive; Error(kMemory).
StreamingFloor measure_streaming_floor(std::int64_t bytes, const TscClock& clock,
                                       double seconds = 0.5);

/// Of one working set, measured before and after a run: the lower time of each contender.
/// Errors  UsageError where the sizes differ.
StreamingFloor lower_of(const StreamingFloor& a, const StreamingFloor& b);

/// A measurement that cannot be.
struct BrokenBenchmarkError : Error {
  explicit BrokenBenchmarkError(const std::string& what) : Error(ExitCode::kFailure, what) {}
};

/// A core's boost moves by this between two measurements.
inline constexpr double kFloorTolerance = 0.02;

/// Judged by the fastest of all passes and not by the median, which other work on the machine lifts
/// by more than a tenth: what is refused here is impossible, and not just lucky.
/// Errors  BrokenBenchmarkError where p50_us < (1 - kFloorTolerance) best_us, or either is not
/// positive and finite.
void check_against_floor(double p50_us, const StreamingFloor& floor);

}  // namespace foxhunt::latency
