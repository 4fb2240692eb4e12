#include "foxhunt/latency/schedule.h"

#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/error.h"

namespace foxhunt::latency {
namespace {

void check_gap(double gap_us) {
  if (!(gap_us > 0.0 && std::isfinite(gap_us))) {
    throw UsageError(fmt::format("[latency] a gap of {} us between events: must be > 0", gap_us));
  }
}

std::string gap_text(double gap_us) {
  if (gap_us >= 1e6) return fmt::format("{:.4g}s", gap_us * 1e-6);
  if (gap_us >= 1e3) return fmt::format("{:.4g}ms", gap_us * 1e-3);
  return fmt::format("{:.4g}us", gap_us);
}

}  // namespace

Schedule Schedule::fixed(double gap_us) {
  check_gap(gap_us);
  return Schedule(Kind::kFixed, gap_us, {});
}

Schedule Schedule::poisson(double gap_us, Rng& rng, std::int64_t period) {
  check_gap(gap_us);
  if (period < 1) {
    throw UsageError(fmt::format("[latency] a period of {} events: must be >= 1", period));
  }
  std::vector<double> arrivals;
  arrivals.reserve(static_cast<std::size_t>(period));
  double at = 0.0;
  for (std::int64_t i = 0; i < period; ++i) {
    at -= std::log1p(-rng.uniform()) * gap_us * 1e3;
    arrivals.push_back(at);
  }
  return Schedule(Kind::kPoisson, gap_us, std::move(arrivals));
}

double Schedule::due_ns(std::int64_t event) const noexcept {
  if (kind_ == Kind::kFixed) return static_cast<double>(event + 1) * gap_us_ * 1e3;
  if (kind_ == Kind::kBackToBack) return 0.0;
  const auto period = static_cast<std::int64_t>(arrivals_.size());
  return static_cast<double>(event / period) * arrivals_.back() +
         arrivals_[static_cast<std::size_t>(event % period)];
}

std::string Schedule::name() const {
  if (kind_ == Kind::kBackToBack) return "back_to_back";
  return (kind_ == Kind::kPoisson ? "poisson_" : "") + gap_text(gap_us_);
}

}  // namespace foxhunt::latency
