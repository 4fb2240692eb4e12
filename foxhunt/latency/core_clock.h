#pragma once
// How fast the core itself runs: a chain of additions, each waiting for the one before, takes one
// cycle a link on every x86-64 core.

#include "foxhunt/latency/tsc_clock.h"

namespace foxhunt::latency {

struct CoreClock {
  double median_ghz = 0.0;
  double best_ghz = 0.0;  ///< the fastest sample: interrupts only ever make one slower
};

/// Additions of a register to a register: newer cores complete additions of a constant without
/// executing them. Cost  `samples` of about 2 us.
CoreClock measure_core_clock(const TscClock& clock, int samples = 301);

}  // namespace foxhunt::latency
