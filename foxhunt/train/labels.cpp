#include "foxhunt/train/labels.h"

#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"
#include "foxhunt/features/volatility.h"

namespace foxhunt::train {
namespace {

/// A move between two closes, seen from a bar with a given volatility.
class Ruler {
 public:
  Ruler(const bundle::LabelConfig& config, Price tick)
      : config_(config),
        tick_(static_cast<double>(tick.nano)),
        root_horizon_(std::sqrt(static_cast<double>(config.horizon))) {}

  /// `sigma` of the deciding bar; unused where the config does not need it.
  std::int8_t class_of(Price from, Price to, double sigma) const {
    const double move = config_.dead_zone_unit == bundle::DeadZoneUnit::kTicks
                            ? static_cast<double>(to.nano - from.nano) / tick_
                            : features::log_return(from, to) / (sigma * root_horizon_);
    if (std::abs(move) <= config_.dead_zone) return kFlat;
    return move > 0 ? kUp : kDown;
  }

  double value_of(Price from, Price to, double sigma) const {
    const double r = features::log_return(from, to);
    return config_.scale_return ? r / (sigma * root_horizon_) : r;
  }

 private:
  const bundle::LabelConfig& config_;
  double tick_;
  double root_horizon_;
};

}  // namespace

Labels make_labels(bundle::LabelConfig config, const LabelBars& bars) {
  config::require_in_range(config::fields_of(config), "labels");
  const std::size_t n = bars.close.size();
  if (bars.available_at.size() != n) {
    throw ShapeError(fmt::format("[labels] {} closes, but {} times", n, bars.available_at.size()));
  }
  const auto h = static_cast<std::size_t>(config.horizon);
  const Ruler ruler(config, bars.tick);
  features::RealisedVolatility volatility(config.volatility_span, bars.tick);
  Labels labels{.valid = std::vector<std::uint8_t>(n, 0),
                .classes = std::vector<std::int8_t>(n, kNoClass),
                .value = std::vector<float>(n, 0.0F),
                .end = std::vector<UnixNanos>(n, kNullTime),
                .persistence = std::vector<std::int8_t>(n, kNoClass)};
  for (std::size_t t = 0; t < n; ++t) {
    const Price now = bars.close[t];
    if (t > 0) volatility.push(features::log_return(bars.close[t - 1], now));
    if (config.uses_volatility() && !volatility.ready()) continue;
    const double sigma = volatility.ready() ? volatility.value(now) : 0.0;
    if (t >= h) labels.persistence[t] = ruler.class_of(bars.close[t - h], now, sigma);
    if (t + h >= n) continue;
    const Price later = bars.close[t + h];
    labels.valid[t] = 1;
    labels.classes[t] = ruler.class_of(now, later, sigma);
    labels.value[t] = static_cast<float>(ruler.value_of(now, later, sigma));
    labels.end[t] = bars.available_at[t + h];
  }
  return labels;
}

}  // namespace foxhunt::train
