#include "foxhunt/nn/step_size_counts.h"

#include <algorithm>
#include <cmath>

namespace foxhunt::nn {
namespace {

constexpr double kLeast = 1e-12;
constexpr double kMost = 1e6;
constexpr double kWidth = 0.01;  // of a bin, in the logarithm

std::size_t bin_of(double dt) {
  const double clamped = std::clamp(dt, kLeast, kMost);
  return static_cast<std::size_t>((std::log(clamped) - std::log(kLeast)) / kWidth);
}

}  // namespace

StepSizeCounts::StepSizeCounts(double lo, double hi) : lo_(lo), hi_(hi), bins_(bin_of(kMost) + 1) {}

void StepSizeCounts::add(double dt) {
  min_ = count_ == 0 ? dt : std::min(min_, dt);
  max_ = count_ == 0 ? dt : std::max(max_, dt);
  sum_ += dt;
  ++count_;
  if (dt <= lo_ || dt >= hi_) ++at_limits_;
  ++bins_[bin_of(dt)];
}

double StepSizeCounts::mean() const {
  return count_ > 0 ? sum_ / static_cast<double>(count_) : 0.0;
}

double StepSizeCounts::percentile(double q) const {
  const auto rank =
      std::max<std::int64_t>(1, std::llround(std::ceil(q * static_cast<double>(count_))));
  std::int64_t seen = 0;
  std::size_t bin = 0;
  while ((seen += bins_[bin]) < rank) ++bin;
  const double middle = kLeast * std::exp((static_cast<double>(bin) + 0.5) * kWidth);
  return std::clamp(middle, min_, max_);
}

StepSizes StepSizeCounts::result() const {
  if (count_ == 0) return {};
  return {.min = min_,
          .p10 = percentile(0.1),
          .median = percentile(0.5),
          .p90 = percentile(0.9),
          .max = max_,
          .at_limits = static_cast<double>(at_limits_) / static_cast<double>(count_)};
}

}  // namespace foxhunt::nn
