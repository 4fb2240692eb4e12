#include "foxhunt/latency/support.h"

#include <fmt/format.h>

#include <cmath>

namespace foxhunt::latency {

double stall_limit(double q, double step_us) noexcept { return (1.0 - q) / (step_us * 1e-6); }

std::string quantile_name(double q) { return fmt::format("p{:.6g}", 100.0 * q); }

Support supported(double q, double step_us, double stalls_per_s) {
  if (!(q >= 0.0 && q < 1.0)) return {.why_not = fmt::format("quantile {} not in [0, 1)", q)};
  if (!(step_us > 0.0 && std::isfinite(step_us))) {
    return {.why_not = fmt::format("step of {} us", step_us)};
  }
  if (!(stalls_per_s >= 0.0)) return {.why_not = fmt::format("{} stalls/s", stalls_per_s)};
  if (std::isinf(stalls_per_s)) return {.why_not = "stalls were not watched"};
  const double limit = stall_limit(q, step_us);
  if (stalls_per_s < limit) return {.supported = true, .why_not = {}};
  return {.why_not = fmt::format("{:.0f} stalls/s, {} of {:.3g} us needs < {:.0f}", stalls_per_s,
                                 quantile_name(q), step_us, limit)};
}

Support enough_samples(double q, std::int64_t n) {
  // 1e-9: 0.001 * 10000 must not fail by rounding.
  if ((1.0 - q) * static_cast<double>(n) >= kSamplesBeyond - 1e-9 && n > 0) {
    return {.supported = true, .why_not = {}};
  }
  return {.why_not = fmt::format("{} samples, {} needs {:.0f}", n, quantile_name(q),
                                 // 0.1: 10 / (1 - 0.9999) is a little above 100,000
                                 std::ceil(kSamplesBeyond / (1.0 - q) - 0.1))};
}

}  // namespace foxhunt::latency
