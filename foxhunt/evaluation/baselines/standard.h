#pragma once
// The baselines of an evaluation in one call: fitted on the training rows, tuned on the validation
// rows, asked about the test rows.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/evaluation/baselines/feature_rows.h"
#include "foxhunt/evaluation/forecasts.h"

namespace foxhunt::evaluation {

/// The rows of one split. All of length N but the matrix; what a task does not need may be empty.
struct BaselineRows {
  FeatureRows features{};               ///< [N, F] normalised, those that the model gets
  std::span<const int> labels{};        ///< true classes; not read of the test rows
  std::span<const int> last_classes{};  ///< class of the last completed move, or kNoLastClass
  std::span<const double> outcomes{};   ///< the number to forecast; not read of the test rows
  std::span<const double>
      last_moves;  ///< the last completed move in the unit of `outcomes`, or NaN
};

struct BaselineSplits {
  BaselineRows train;
  BaselineRows valid;
  BaselineRows test;
};

struct Baselines {
  std::vector<Forecasts> forecasts{};  ///< for the test rows
  std::vector<std::string> notes{};  ///< a line on each fit: what was chosen, whether it converged
};

/// `prior`, `persistence`, `logistic`. Errors  those of prior.h, persistence.h and logistic.h.
Baselines classification_baselines(const BaselineSplits& rows, std::size_t n_classes);
/// `mean`, `persistence`, `ridge`.
Baselines regression_baselines(const BaselineSplits& rows);
/// The same three, each with the quantiles of its training residuals around it: [N, Q].
Baselines quantile_baselines(const BaselineSplits& rows, std::span<const double> levels);

}  // namespace foxhunt::evaluation
