#pragma once
// Ridge regression: the best that a linear model makes of one feature row when a number is asked
// for.

#include <cstddef>
#include <span>
#include <vector>

#include "foxhunt/evaluation/baselines/feature_rows.h"

namespace foxhunt::evaluation {

struct RidgeModel {
  std::vector<double> weights;  ///< [F]
  double intercept = 0;
  double l2 = 0;

  /// [N]. Errors  ShapeError for rows of another width, DataError for values that are not finite.
  std::vector<double> predict(FeatureRows x) const;
};

/// Minimises 1/N sum (y - intercept - w.x)^2 + l2 |w|^2: the normal equations of the centred
/// columns, solved by a Cholesky factorisation. For l2 -> infinity the answer is the training mean.
/// `l2` > 0, so that there is one answer even for dependent columns. Errors  ShapeError, DataError
/// naming row and column; ShapeError when l2 is not above 0.
RidgeModel fit_ridge(FeatureRows x, std::span<const double> outcomes, double l2);

inline constexpr double kRidgeGrid[] = {1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0};

struct RidgeRows {
  FeatureRows x;
  std::span<const double> outcomes;
};

/// The fit on the training rows whose squared error on the validation rows is lowest; of equals the
/// one of larger l2. Errors  as fit_ridge; ShapeError for an empty grid.
RidgeModel choose_ridge(const RidgeRows& train, const RidgeRows& valid,
                        std::span<const double> grid = kRidgeGrid);

}  // namespace foxhunt::evaluation
