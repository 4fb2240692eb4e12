#pragma once
// Multinomial logistic regression: the best that a linear model makes of one feature row.

#include <cstddef>
#include <span>
#include <vector>

#include "foxhunt/evaluation/baselines/feature_rows.h"

namespace foxhunt::evaluation {

struct LogisticModel {
  std::size_t n_classes = 0;
  std::size_t n_features = 0;
  std::vector<double> weights;  ///< [K, F + 1], the intercept last

  /// [N, K] softmax(x W' + b). Errors  ShapeError for rows of another width, DataError for values
  /// that are not finite.
  std::vector<double> predict(FeatureRows x) const;
};

struct LogisticFit {
  LogisticModel model;
  double l2 = 0;
  int steps = 0;           ///< Newton steps taken
  double gradient = 0;     ///< largest absolute component at the end
  bool converged = false;  ///< gradient <= kGradientTolerance
};

/// The objective is a mean over rows, near ln K; its gradient is exact to about 1e-14 then.
inline constexpr double kGradientTolerance = 1e-9;

/// Minimises, by Newton steps with backtracking from all-zero weights,
///
///     1/(N + K) [ sum over rows of -ln p(label | x)  +  one pseudo-row x = 0 of each class ]  +
///     l2/2 |W|^2
///
/// The intercepts are free of l2, and the pseudo-rows are Laplace's rule: for l2 -> infinity the
/// answer is class_prior(). A strictly convex problem: one minimum (intercepts summing to 0),
/// reached from anywhere. `l2` > 0. Errors  ShapeError, DataError naming row and column; ShapeError
/// when l2 is not above 0. Cost    N (K F)^2 a step, 4 to 10 steps; 8 N F bytes.
LogisticFit fit_logistic(FeatureRows x, std::span<const int> labels, std::size_t n_classes,
                         double l2);

/// What choose_logistic() tries: from nearly free to nearly the prior.
inline constexpr double kLogisticGrid[] = {1e-4, 1e-3, 1e-2, 1e-1, 1.0};

struct LogisticRows {
  FeatureRows x;
  std::span<const int> labels;
};

/// The fit on the training rows whose log-loss on the validation rows is lowest; of equals the one
/// of larger l2. Errors  as fit_logistic; ShapeError for an empty grid.
LogisticFit choose_logistic(const LogisticRows& train, const LogisticRows& valid,
                            std::size_t n_classes, std::span<const double> grid = kLogisticGrid);

}  // namespace foxhunt::evaluation
