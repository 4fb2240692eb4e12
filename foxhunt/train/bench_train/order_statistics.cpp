#include "foxhunt/train/bench_train/order_statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace foxhunt::train {
namespace {

constexpr std::size_t kFewestForGroups = 8;  ///< two a group

double log_choose(std::int64_t n, std::int64_t k) {
  return std::lgamma(static_cast<double>(n) + 1) - std::lgamma(static_cast<double>(k) + 1) -
         std::lgamma(static_cast<double>(n - k) + 1);
}

Figure figure_of(std::vector<double> values, double level,
                 const std::function<double(std::int64_t)>& coverage) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {kNaN, kNaN, kNaN, 0};
  std::sort(values.begin(), values.end());
  const auto n = static_cast<std::int64_t>(values.size());
  std::int64_t r = 1;
  while (r + 1 <= n - r && coverage(r + 1) >= level) ++r;
  return {.value = median_of(values),
          .low = values[static_cast<std::size_t>(r - 1)],
          .high = values[static_cast<std::size_t>(n - r)],
          .level = n > 1 ? coverage(r) : 0.0};
}

}  // namespace

double Figure::width_share() const { return (high - low) / value; }

double median_coverage(std::int64_t n, std::int64_t r) {
  double below = 0;  // P(fewer than r of n lie below the median)
  for (std::int64_t k = 0; k < r; ++k)
    below += std::exp(log_choose(n, k) - static_cast<double>(n) * std::log(2.0));
  return std::max(0.0, 1.0 - 2.0 * below);
}

double repeat_coverage(std::int64_t n, std::int64_t m, std::int64_t r) {
  // The median of the m lies above x_(s), s = n + 1 - r, only if fewer than `middle` of them lie
  // below. i of them below x_(s): C(i + s - 1, i) C(m - i + n - s, m - i) orders of C(n + m, m).
  const std::int64_t s = n + 1 - r;
  const std::int64_t middle = m / 2 + 1;
  double above = 0;
  for (std::int64_t i = 0; i < middle; ++i) {
    above += std::exp(log_choose(i + s - 1, i) + log_choose(m - i + n - s, m - i) -
                      log_choose(n + m, m));
  }
  return std::max(0.0, 1.0 - 2.0 * above);
}

double median_of(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

double quantile_of(const std::vector<double>& sorted, double p) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double place = std::ceil(p * static_cast<double>(sorted.size())) - 1.0;
  return sorted[static_cast<std::size_t>(std::max(0.0, place))];
}

Figure median_figure(std::vector<double> values, double level) {
  const auto n = static_cast<std::int64_t>(values.size());
  return figure_of(std::move(values), level, [n](std::int64_t r) { return median_coverage(n, r); });
}

Figure independent_figure(std::vector<double> values, double level) {
  const auto n = static_cast<std::int64_t>(values.size());
  return figure_of(std::move(values), level,
                   [n](std::int64_t r) { return repeat_coverage(n, n, r); });
}

double student3_coverage(double x) {
  const double u = x / std::sqrt(3.0);
  return 2.0 / std::numbers::pi * (u / (1.0 + u * u) + std::atan(u));
}

Figure grouped_figure(const std::vector<double>& in_order, double level) {
  constexpr std::size_t kGroups = 4;
  const std::size_t n = in_order.size();
  std::vector<double> middles;
  double mean = 0;
  for (std::size_t g = 0; g < kGroups; ++g) {
    const auto at = [&](std::size_t i) {
      return in_order.begin() + static_cast<std::ptrdiff_t>(n * i / kGroups);
    };
    middles.push_back(std::log(median_of({at(g), at(g + 1)})));
    mean += middles.back() / kGroups;
  }
  double squares = 0;
  for (const double m : middles) squares += (m - mean) * (m - mean);
  double low = 0, high = 1e3;  // t, by halving: coverage rises
  for (int i = 0; i < 100; ++i) {
    const double t = 0.5 * (low + high);
    (student3_coverage(t) < level ? low : high) = t;
  }
  const double half = high * std::sqrt(squares / (kGroups - 1) * 2.0 / kGroups);
  return {median_of(in_order), std::exp(mean - half), std::exp(mean + half), level};
}

Figure repeatable_figure(const std::vector<double>& in_order, double level) {
  Figure figure = independent_figure(in_order, level);
  const bool positive =
      std::all_of(in_order.begin(), in_order.end(), [](double v) { return v > 0; });
  if (in_order.size() < kFewestForGroups || !positive) return figure;
  const Figure groups = grouped_figure(in_order, level);
  figure.low = std::min(figure.low, groups.low);
  figure.high = std::max(figure.high, groups.high);
  return figure;
}

}  // namespace foxhunt::train
