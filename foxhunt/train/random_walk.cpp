#include "foxhunt/train/random_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::train {
namespace {

/// Of a standard normal below x.
double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

}  // namespace

double walk_variance(std::int64_t horizon, std::int64_t smooth) {
  const auto k = static_cast<double>(smooth);
  return static_cast<double>(horizon - smooth) + (k + 1) * (2 * k + 1) / (6 * k);
}

WalkForecast walk_forecast(double mean, double sd, double dead_zone) {
  const double down = normal_below((-dead_zone - mean) / sd);
  const double up = normal_below((mean - dead_zone) / sd);
  return {.down = down, .flat = std::max(0.0, 1 - down - up), .up = up};
}

double normal_quantile(double q) {
  double low = -40, high = 40;
  while (high - low > 1e-12) {
    const double middle = 0.5 * (low + high);
    (normal_below(middle) < q ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

WalkFloor walk_floor(const bundle::LabelConfig& config, std::uint64_t seed, std::int64_t bars) {
  if (!config.is_smoothed())
    throw ConfigError("[labels] only a smoothed label has a floor on a random walk");
  constexpr Price kTick{Price::kUnitsPerOne};
  constexpr double kStep = 16 * static_cast<double>(kTick.nano);
  Rng rng = Rng(seed).split("random walk");
  std::vector<Price> close;
  std::vector<UnixNanos> at;
  // So far from 0 that returns are steps over a constant.
  Price price{1'000'000 * Price::kUnitsPerOne};
  for (std::int64_t i = 0; i < bars; ++i) {
    price.nano += static_cast<std::int64_t>(std::llround(kStep * rng.normal()));
    close.push_back(price);
    at.push_back(from_nanos(i));
  }
  const Labels labels = make_labels(config, {.close = close, .available_at = at, .tick = kTick});
  WalkFloor floor;
  std::array<double, kClasses> counts{};
  double hits = 0, loss = 0, error = 0, square = 0;
  for (std::size_t t = 0; t < close.size(); ++t) {
    if (labels.valid[t] == 0) continue;
    ++floor.rows;
    const auto truth = static_cast<std::size_t>(labels.classes[t]);
    counts[truth] += 1;
    const auto mean = static_cast<double>(labels.walk_mean[t]);
    if (is_class(config.kind)) {
      const WalkForecast f =
          walk_forecast(mean, static_cast<double>(labels.walk_sd[t]), config.dead_zone);
      const std::array<double, kClasses> p{f.down, f.flat, f.up};
      hits +=
          std::max_element(p.begin(), p.end()) - p.begin() == static_cast<std::ptrdiff_t>(truth);
      loss -= std::log(std::max(p[truth], 1e-300));
    }
    const auto value = static_cast<double>(labels.value[t]);
    error += (value - mean) * (value - mean);
    square += value * value;
  }
  const auto n = static_cast<double>(floor.rows);
  if (floor.rows == 0) throw ConfigError("[labels] the walk is too short for one label");
  floor.accuracy = hits / n;
  floor.log_loss = loss / n;
  for (const double count : counts) {
    floor.majority_accuracy = std::max(floor.majority_accuracy, count / n);
    if (count > 0) floor.prior_log_loss -= count / n * std::log(count / n);
  }
  floor.r2 = is_class(config.kind) ? 0 : 1 - error / square;
  return floor;
}

std::string walk_floor_text(const bundle::LabelConfig& config, const WalkFloor& floor,
                            std::uint64_t seed) {
  const std::string where =
      fmt::format("on a driftless random walk ({} labels, seed {})", floor.rows, seed);
  const std::string label = fmt::format("random-walk: the label is smoothed ({} past, {} future)",
                                        config.smooth_past, config.smooth_future);
  if (!is_class(config.kind)) {
    return fmt::format("{}; what is known of it explains {:.1f} % of its variance {}", label,
                       100 * floor.r2, where);
  }
  return fmt::format(
      "{}; the forecast that knows the past alone reaches accuracy {:.4f} and log loss {:.4f} {}, "
      "where the most frequent class has {:.4f} and the class shares {:.4f}",
      label, floor.accuracy, floor.log_loss, where, floor.majority_accuracy, floor.prior_log_loss);
}

}  // namespace foxhunt::train
