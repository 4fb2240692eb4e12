#include "foxhunt/latency/hiccup.h"

#include <algorithm>
#include <limits>

#include <boost/math/special_functions/gamma.hpp>

namespace foxhunt::latency {

void HiccupStats::merge(const HiccupStats& other) noexcept {
  watched_us += other.watched_us;
  stalls += other.stalls;
  stalled_us += other.stalled_us;
  largest_us = std::max(largest_us, other.largest_us);
}

double HiccupStats::stalls_per_s() const noexcept {
  return watched_us > 0.0 ? static_cast<double>(stalls) / (watched_us * 1e-6) : 0.0;
}

double HiccupStats::mean_stall_us() const noexcept {
  return stalls > 0 ? stalled_us / static_cast<double>(stalls) : 0.0;
}

double HiccupStats::stalls_per_s_bound() const {
  if (!(watched_us > 0.0)) return std::numeric_limits<double>::infinity();
  // The mean of a Poisson count at which `stalls` or fewer come up in 5 of 100 cases.
  const double mean = boost::math::gamma_q_inv(static_cast<double>(stalls) + 1.0, 0.05);
  return mean / (watched_us * 1e-6);
}

HiccupStats HiccupWatch::stats(const TscClock& clock) const noexcept {
  return {.watched_us = clock.us(last_ - start_ - away_),
          .stalls = stalls_,
          .stalled_us = clock.us(stalled_),
          .largest_us = clock.us(largest_)};
}

HiccupStats watch_for_hiccups(const TscClock& clock, double seconds) {
  const std::uint64_t start = __rdtsc();
  const std::uint64_t length = clock.ticks(seconds * 1e9);
  HiccupWatch watch(start, clock.ticks(kStallUs * 1e3));
  for (std::uint64_t now = start; now - start < length;) {
    now = __rdtsc();
    watch.see(now);
  }
  return watch.stats(clock);
}

}  // namespace foxhunt::latency
