#include "foxhunt/evaluation/resampling/block_length.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt::evaluation {
namespace {

/// [0 .. max_lag] autocovariances, each divided by N.
std::vector<double> autocovariances(std::span<const double> series, std::size_t max_lag) {
  const std::size_t n = series.size();
  double mean = 0;  // above the first value: the differences of a constant are then exactly 0
  for (const double x : series) mean += (x - series[0]) / static_cast<double>(n);
  mean += series[0];
  std::vector<double> covariances(max_lag + 1, 0.0);
  for (std::size_t lag = 0; lag <= max_lag; ++lag) {
    double sum = 0;
    for (std::size_t i = lag; i < n; ++i) sum += (series[i] - mean) * (series[i - lag] - mean);
    covariances[lag] = sum / static_cast<double>(n);
  }
  return covariances;
}

/// The first of `run` lags in a row whose autocorrelations are insignificant; without such a run,
/// the lag after the last significant one.
std::size_t first_insignificant_lag(const std::vector<double>& covariances, std::size_t run,
                                    double threshold) {
  const std::size_t max_lag = covariances.size() - 1;
  std::size_t last = 0;  // the largest significant lag so far
  for (std::size_t lag = 1; lag <= max_lag; ++lag) {
    if (std::abs(covariances[lag]) >= threshold * covariances[0]) last = lag;
    if (lag - last >= run) break;
  }
  return last + 1;
}

/// The flat-top window: 1 up to a half, then a line down to 0 at 1.
double flat_top(double t) { return std::clamp(2 * (1 - t), 0.0, 1.0); }

}  // namespace

std::size_t automatic_block_length(std::span<const double> series) {
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (!std::isfinite(series[i])) {
      throw DataError(
          fmt::format("[evaluation] row {}: {} in the series of a block length", i, series[i]));
    }
  }
  constexpr std::size_t kLeastRows = 8;  // fewer hold no autocorrelation worth a rule
  if (series.size() < kLeastRows) return 1;
  const auto n = static_cast<double>(series.size());
  const auto run = static_cast<std::size_t>(std::max(5.0, std::ceil(std::sqrt(std::log10(n)))));
  const std::size_t max_lag =
      std::min(series.size() - 1, static_cast<std::size_t>(std::ceil(std::sqrt(n))) + run);
  const std::vector<double> covariances = autocovariances(series, max_lag);
  if (covariances[0] <= 0) return 1;

  const double threshold = 2 * std::sqrt(std::log10(n) / n);
  const std::size_t window =
      std::min(2 * first_insignificant_lag(covariances, run, threshold), max_lag);
  double spectrum = covariances[0];  // at frequency 0
  double slope = 0;
  for (std::size_t lag = 1; lag <= window; ++lag) {
    const auto k = static_cast<double>(lag);
    const double weighted = 2 * flat_top(k / static_cast<double>(window)) * covariances[lag];
    spectrum += weighted;
    slope += weighted * k;
  }
  const double variance = 4.0 / 3.0 * spectrum * spectrum;  // of the circular bootstrap
  const double longest = std::ceil(std::min(3 * std::sqrt(n), n / 3));
  if (variance <= 0) return static_cast<std::size_t>(longest);
  const double length = std::cbrt(2 * slope * slope / variance * n);
  return static_cast<std::size_t>(std::ceil(std::clamp(length, 1.0, longest)));
}

}  // namespace foxhunt::evaluation
