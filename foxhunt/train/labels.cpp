#include "foxhunt/train/labels.h"

#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"
#include "foxhunt/features/volatility.h"
#include "foxhunt/train/random_walk.h"

namespace foxhunt::train {
namespace {

/// The mean of closes[first .. first + n) less `from`, in 1e-9 units.
double mean_above(std::span<const Price> closes, std::size_t first, std::size_t n, Price from) {
  double sum = 0;
  for (std::size_t i = first; i < first + n; ++i)
    sum += static_cast<double>(closes[i].nano - from.nano);
  return sum / static_cast<double>(n);
}

/// ln((base + more) / base); one bar's own log return where `more` is a whole number of units.
double log_step(Price base, double more) {
  const auto from = static_cast<double>(base.nano);
  const double relative = more / from;
  return relative > -0.5 ? std::log1p(relative) : std::log((from + more) / from);
}

/// A move of one label: both ends as distances from one close, in 1e-9 units.
struct Move {
  Price base;
  double from = 0;
  double to = 0;
  double log_return() const { return log_step(base, to) - log_step(base, from); }
};

/// Moves in the units of a configuration, seen from a bar with a given volatility.
class Ruler {
 public:
  Ruler(const bundle::LabelConfig& config, Price tick)
      : config_(config),
        tick_(static_cast<double>(tick.nano)),
        root_horizon_(std::sqrt(static_cast<double>(config.horizon))),
        walk_root_(std::sqrt(walk_variance(config.horizon, config.smooth_future))) {}

  /// `sigma` of the deciding bar; unused where the config does not need it.
  double move_of(const Move& move, double sigma) const {
    if (config_.dead_zone_unit == bundle::DeadZoneUnit::kTicks)
      return (move.to - move.from) / tick_;
    return move.log_return() / (sigma * root_horizon_);
  }
  std::int8_t class_of(const Move& move, double sigma) const {
    const double size = move_of(move, sigma);
    if (std::abs(size) <= config_.dead_zone) return kFlat;
    return size > 0 ? kUp : kDown;
  }
  double value_of(double log_return, double sigma) const {
    return config_.scale_return ? log_return / (sigma * root_horizon_) : log_return;
  }

  /// The part of the label at `now` that is known, in its unit: nothing moves from here on.
  double walk_mean(Move move, double sigma) const {
    move.to = 0;
    return is_class(config_.kind) ? move_of(move, sigma) : value_of(move.log_return(), sigma);
  }
  /// What a random walk adds to it, as a standard deviation.
  double walk_sd(Price now, double sigma) const {
    if (is_class(config_.kind) && config_.dead_zone_unit == bundle::DeadZoneUnit::kTicks)
      return sigma * static_cast<double>(now.nano) / tick_ * walk_root_;
    return value_of(sigma * walk_root_, sigma);
  }

  /// Log returns at which the barriers stand.
  double upper(double sigma) const { return config_.barrier_up * sigma * root_horizon_; }
  double lower(double sigma) const { return -config_.barrier_down * sigma * root_horizon_; }

 private:
  const bundle::LabelConfig& config_;
  double tick_;
  double root_horizon_;
  double walk_root_;
};

/// The label of one decision.
struct Answer {
  std::int8_t cls = kFlat;
  std::size_t end = 0;  ///< bar at which it is known
  double log_return = 0;
};

Answer first_barrier(std::span<const Price> close, std::size_t t, std::size_t h, double upper,
                     double lower) {
  Answer answer;
  for (answer.end = t + 1;; ++answer.end) {
    answer.log_return = features::log_return(close[t], close[answer.end]);
    if (answer.log_return >= upper) answer.cls = kUp;
    if (answer.log_return <= lower) answer.cls = kDown;
    if (answer.cls != kFlat || answer.end == t + h) return answer;
  }
}

}  // namespace

std::vector<std::string> label_errors(const bundle::LabelConfig& config) {
  std::vector<std::string> errors;
  if (config.smooth_future > config.horizon) {
    errors.push_back(fmt::format("label.smooth_future {} is longer than label.horizon {}",
                                 config.smooth_future, config.horizon));
  }
  if (config.kind == bundle::LabelKind::kBarrier &&
      (config.smooth_future > 1 || config.smooth_past > 1))
    errors.emplace_back("label.kind = barrier is judged close by close: leave smooth_* at 1");
  return errors;
}

Labels make_labels(bundle::LabelConfig config, const LabelBars& bars) {
  config::require_in_range(config::fields_of(config), "labels");
  for (const std::string& error : label_errors(config)) throw ConfigError("[labels] " + error);
  const std::span<const Price> close = bars.close;
  const std::size_t n = close.size();
  if (bars.available_at.size() != n) {
    throw ShapeError(fmt::format("[labels] {} closes, but {} times", n, bars.available_at.size()));
  }
  const auto h = static_cast<std::size_t>(config.horizon);
  const auto future = static_cast<std::size_t>(config.smooth_future);
  const auto past = static_cast<std::size_t>(config.smooth_past);
  const bool barrier = config.kind == bundle::LabelKind::kBarrier;
  const Ruler ruler(config, bars.tick);
  features::RealisedVolatility volatility(config.volatility_span, bars.tick);
  const std::size_t walks = config.is_smoothed() ? n : 0;
  Labels labels{.valid = std::vector<std::uint8_t>(n, 0),
                .classes = std::vector<std::int8_t>(n, kNoClass),
                .value = std::vector<float>(n, 0.0F),
                .end = std::vector<UnixNanos>(n, kNullTime),
                .persistence = std::vector<std::int8_t>(n, kNoClass),
                .walk_mean = std::vector<float>(walks, 0.0F),
                .walk_sd = std::vector<float>(walks, 0.0F)};
  /// The move of the label decided at `t`, all of whose bars are there.
  const auto move_at = [&](std::size_t t) {
    return Move{.base = close[t],
                .from = mean_above(close, t + 1 - past, past, close[t]),
                .to = mean_above(close, t + h + 1 - future, future, close[t])};
  };
  for (std::size_t t = 0; t < n; ++t) {
    const Price now = close[t];
    if (t > 0) volatility.push(features::log_return(close[t - 1], now));
    // A walk's spread is one of volatility, whatever the label's own unit is.
    if ((config.uses_volatility() || walks > 0) && !volatility.ready()) continue;
    const double sigma = volatility.ready() ? volatility.value(now) : 0.0;
    if (t + 1 >= h + past)
      labels.persistence[t] =
          barrier ? labels.classes[t - h] : ruler.class_of(move_at(t - h), sigma);
    if (t + 1 < past || t + h >= n) continue;
    labels.valid[t] = 1;
    Answer answer{.end = t + h};
    if (barrier) {
      answer = first_barrier(close, t, h, ruler.upper(sigma), ruler.lower(sigma));
    } else {
      const Move move = move_at(t);
      answer.cls = ruler.class_of(move, sigma);
      answer.log_return = move.log_return();
      if (walks > 0) {
        labels.walk_mean[t] = static_cast<float>(ruler.walk_mean(move, sigma));
        labels.walk_sd[t] = static_cast<float>(ruler.walk_sd(now, sigma));
      }
    }
    labels.classes[t] = answer.cls;
    labels.value[t] = static_cast<float>(ruler.value_of(answer.log_return, sigma));
    labels.end[t] = bars.available_at[answer.end];
  }
  return labels;
}

}  // namespace foxhunt::train
