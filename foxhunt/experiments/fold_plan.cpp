#include "foxhunt/experiments/fold_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"

namespace foxhunt::experiments {
namespace {

using train::WalkForwardConfig;
using train::WalkForwardKind;
using train::WalkForwardUnit;

/// Times at which a part may begin or end: place 0 the first row's, the last just after all rows.
class Boundaries {
 public:
  Boundaries(WalkForwardUnit unit, const std::vector<UnixNanos>& days)
      : days_(days), by_day_(unit == WalkForwardUnit::kDays) {}

  std::int64_t length() const {
    if (days_.size() < 2) return 0;
    if (by_day_) return static_cast<std::int64_t>(days_.size()) - 1;
    return std::chrono::ceil<std::chrono::minutes>(days_.back() - days_.front()).count();
  }
  UnixNanos at(std::int64_t place) const {
    if (by_day_) return days_[static_cast<std::size_t>(place)];
    return days_.front() + std::chrono::minutes{place};
  }

 private:
  const std::vector<UnixNanos>& days_;
  bool by_day_;
};

}  // namespace

train::SplitConfig Fold::to_split(train::SplitConfig config) const {
  config.train_begin = to_string(train_begin);
  config.train_end = to_string(train_end);
  config.valid_end = to_string(valid_end);
  config.test_end = to_string(test_end);
  return config;
}

std::vector<UnixNanos> day_starts(std::span<const train::Sequence> sequences) {
  std::map<std::chrono::sys_days, UnixNanos> first;
  UnixNanos last = UnixNanos::min();
  for (const train::Sequence& s : sequences) {
    if (s.length() == 0) continue;
    const auto [day, is_new] = first.try_emplace(s.trade_date, s.available_at.front());
    if (!is_new) day->second = std::min(day->second, s.available_at.front());
    last = std::max(last, s.available_at.back());
  }
  std::vector<UnixNanos> starts;
  for (const auto& [day, time] : first) starts.push_back(time);
  if (!starts.empty()) starts.push_back(last + std::chrono::seconds{1});
  return starts;
}

FoldPlan plan_folds(WalkForwardConfig config, const std::vector<UnixNanos>& days) {
  config::require_in_range(config::fields_of(config), "walkforward");
  const std::int64_t step = config.step > 0 ? config.step : config.test;
  if (step < config.test) {
    throw ConfigError(fmt::format(
        "[walkforward] step = {} is below test = {}: rows would be tested twice and count twice",
        config.step, config.test));
  }
  const Boundaries boundaries(config.unit, days);
  const char* unit = config.unit == WalkForwardUnit::kDays ? "trading days" : "minutes";
  FoldPlan plan{.folds = {}, .length = boundaries.length(), .unused = 0};
  const std::int64_t one = config.train + config.valid + config.test;
  for (std::int64_t first = 0; first + one <= plan.length; first += step) {
    const auto folds = static_cast<std::int64_t>(plan.folds.size());
    if (config.max_folds > 0 && folds == config.max_folds) break;
    const bool rolling = config.kind == WalkForwardKind::kRolling;
    plan.folds.push_back({.train_begin = boundaries.at(rolling ? first : 0),
                          .train_end = boundaries.at(first + config.train),
                          .valid_end = boundaries.at(first + config.train + config.valid),
                          .test_end = boundaries.at(first + one)});
    plan.unused = plan.length - (first + one);
  }
  if (plan.folds.empty()) {
    throw ConfigError(fmt::format(
        "[walkforward] train = {}, valid = {} and test = {} need {} {}; the data has {}",
        config.train, config.valid, config.test, one, unit, plan.length));
  }
  return plan;
}

}  // namespace foxhunt::experiments
