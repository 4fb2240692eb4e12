#pragma once
// How good forecasts of a number, or of its quantiles, are. All in the unit of the outcome unless
// said.

#include <span>
#include <vector>

#include "foxhunt/evaluation/metrics/value.h"
#include "foxhunt/evaluation/metrics/weights.h"

namespace foxhunt::evaluation {

/// Errors  ShapeError unless there are `width` forecasts an outcome; DataError naming the row when
/// a number is not
///         finite. Everything below relies on it.
void check_forecasts(std::span<const double> forecast, std::size_t width,
                     std::span<const double> outcome);

/// [N] (forecast - outcome)^2 and |forecast - outcome|.
std::vector<double> squared_errors(std::span<const double> forecast,
                                   std::span<const double> outcome);
std::vector<double> absolute_errors(std::span<const double> forecast,
                                    std::span<const double> outcome);

/// Root of the weighted mean of squared_errors().
Value rmse(std::span<const double> squared_errors, Weights w = {});

/// Out-of-sample R^2 (Campbell & Thompson 2008): 1 - sum (y - forecast)^2 / sum (y - train_mean)^2.
/// Zero is a forecast as good as the mean of the training rows, which was known beforehand; the
/// mean of these rows was not.
Value r2_out_of_sample(std::span<const double> forecast, std::span<const double> outcome,
                       double train_mean, Weights w = {});

/// Pearson correlation. Undefined when a side does not vary.
Value pearson(std::span<const double> x, std::span<const double> y, Weights w = {});

/// [N] quantile (pinball) loss: max(q e, (q - 1) e), e = outcome - forecast.
std::vector<double> pinball_losses(std::span<const double> forecast, double q,
                                   std::span<const double> outcome);

/// [N] 1 where the outcome is at or below the forecast quantile, else 0. Their mean, the coverage,
/// should be q.
std::vector<double> covered(std::span<const double> forecast, std::span<const double> outcome);

}  // namespace foxhunt::evaluation
