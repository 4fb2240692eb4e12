#include "foxhunt/evaluation/metrics/regression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/base/error.h"

namespace foxhunt::evaluation {
namespace {

template <class Function>
std::vector<double> each_row(std::span<const double> forecast, std::span<const double> outcome,
                             Function f) {
  std::vector<double> result(outcome.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = f(forecast[i], outcome[i]);
  return result;
}

}  // namespace

void check_forecasts(std::span<const double> forecast, std::size_t width,
                     std::span<const double> outcome) {
  if (width == 0 || forecast.size() != outcome.size() * width) {
    throw ShapeError(fmt::format(
        "[evaluation] {} forecasts in rows of {} for {} outcomes, but it must be [N, {}]",
        forecast.size(), width, outcome.size(), width));
  }
  for (std::size_t i = 0; i < forecast.size(); ++i) {
    if (!std::isfinite(forecast[i])) {
      throw DataError(
          fmt::format("[evaluation] row {}: forecast {} is not finite", i / width, forecast[i]));
    }
  }
  for (std::size_t i = 0; i < outcome.size(); ++i) {
    if (!std::isfinite(outcome[i])) {
      throw DataError(fmt::format("[evaluation] row {}: outcome {} is not finite", i, outcome[i]));
    }
  }
}

std::vector<double> squared_errors(std::span<const double> forecast,
                                   std::span<const double> outcome) {
  return each_row(forecast, outcome, [](double f, double y) { return (f - y) * (f - y); });
}

std::vector<double> absolute_errors(std::span<const double> forecast,
                                    std::span<const double> outcome) {
  return each_row(forecast, outcome, [](double f, double y) { return std::abs(f - y); });
}

Value rmse(std::span<const double> squared_errors, Weights w) {
  const Value mse = mean(squared_errors, w);
  return mse ? Value::of(std::sqrt(*mse)) : mse;
}

Value r2_out_of_sample(std::span<const double> forecast, std::span<const double> outcome,
                       double train_mean, Weights w) {
  double residual = 0;
  double reference = 0;
  for (std::size_t i = 0; i < outcome.size(); ++i) {
    const double e = outcome[i] - forecast[i];
    const double m = outcome[i] - train_mean;
    residual += weight(w, i) * e * e;
    reference += weight(w, i) * m * m;
  }
  if (reference <= 0) return Value::undefined("every outcome equals the mean of the training rows");
  return Value::of(1 - residual / reference);
}

Value pearson(std::span<const double> x, std::span<const double> y, Weights w) {
  // Seen from one of the rows: the differences of a constant are then exactly 0.
  std::size_t first = 0;
  while (first < x.size() && weight(w, first) <= 0) ++first;
  if (first == x.size()) return Value::undefined("no rows");
  double total = 0;
  double sum_x = 0;
  double sum_y = 0;
  for (std::size_t i = first; i < x.size(); ++i) {
    const double wi = weight(w, i);
    total += wi;
    sum_x += wi * (x[i] - x[first]);
    sum_y += wi * (y[i] - y[first]);
  }
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = first; i < x.size(); ++i) {
    const double wi = weight(w, i);
    const double dx = x[i] - x[first] - sum_x / total;
    const double dy = y[i] - y[first] - sum_y / total;
    xx += wi * dx * dx;
    yy += wi * dy * dy;
    xy += wi * dx * dy;
  }
  if (xx <= 0) return Value::undefined("the forecast does not vary");
  if (yy <= 0) return Value::undefined("the outcome does not vary");
  return Value::of(xy / std::sqrt(xx * yy));
}

std::vector<double> pinball_losses(std::span<const double> forecast, double q,
                                   std::span<const double> outcome) {
  return each_row(forecast, outcome, [q](double f, double y) {
    const double e = y - f;
    return std::max(q * e, (q - 1) * e);
  });
}

std::vector<double> covered(std::span<const double> forecast, std::span<const double> outcome) {
  return each_row(forecast, outcome, [](double f, double y) { return y <= f ? 1.0 : 0.0; });
}

}  // namespace foxhunt::evaluation
