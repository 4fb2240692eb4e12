#pragma once
// Which percentiles a machine lets one claim.
//
// A stall that hits a step makes it slow, whatever the step does. If more than 1 - q of the steps
// are hit, quantile q tells of the machine and not of the step: it is supported only where
// stall rate < (1 - q) / T, T being how long a step is exposed. And a quantile needs samples beyond
// it.

#include <cstdint>
#include <string>

namespace foxhunt::latency {

struct Support {
  bool supported = false;
  std::string why_not;  ///< short enough for a table; empty where supported

  explicit operator bool() const noexcept { return supported; }
};

/// Stalls a second that quantile q of a step of T us must stay below; q in [0, 1), T > 0.
double stall_limit(double q, double step_us) noexcept;

/// The rule. `stalls_per_s` may be a bound (HiccupStats::stalls_per_s_bound). Not supported either
/// where an argument is out of range or not finite.
Support supported(double q, double step_us, double stalls_per_s);

/// At least kSamplesBeyond samples lie beyond quantile q of n.
inline constexpr double kSamplesBeyond = 10.0;
Support enough_samples(double q, std::int64_t n);

/// "p50", "p99.9", "p99.99".
std::string quantile_name(double q);

}  // namespace foxhunt::latency
