#include "foxhunt/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace foxhunt::train {

Schedule::Schedule(const ScheduleConfig& config, std::int64_t total_steps)
    : config_(config),
      total_(std::max<std::int64_t>(total_steps, 1)),
      warmup_(static_cast<std::int64_t>(
          std::llround(config.warmup_fraction * static_cast<double>(total_)))) {}

double Schedule::lr(std::int64_t step) const {
  if (step < warmup_) {
    return config_.lr * static_cast<double>(step + 1) / static_cast<double>(warmup_);
  }
  const std::int64_t rest = std::max<std::int64_t>(total_ - warmup_, 1);
  const double x =
      std::min(1.0, static_cast<double>(step - warmup_ + 1) / static_cast<double>(rest));
  const double floor = config_.lr * config_.floor_fraction;
  switch (config_.kind) {
    case ScheduleKind::kCosine:
      return floor + 0.5 * (config_.lr - floor) * (1.0 + std::cos(std::numbers::pi * x));
    case ScheduleKind::kLinear:
      return config_.lr + (floor - config_.lr) * x;
    case ScheduleKind::kConstant:
      return config_.lr;
    case ScheduleKind::kStep:
      return config_.lr * std::pow(config_.step_factor,
                                   static_cast<double>((step - warmup_) / config_.step_every));
  }
  return config_.lr;
}

}  // namespace foxhunt::train
