#pragma once
// All metrics of one forecaster on one set of rows, under any row weights.

#include <cstddef>
#include <string>
#include <vector>

#include "foxhunt/evaluation/forecasts.h"
#include "foxhunt/evaluation/report/task.h"
#include "foxhunt/evaluation/resampling/bootstrap.h"

namespace foxhunt::evaluation {

/// kNeither: not compared between forecasters. A coverage should be its level; the F1 of one class
/// is traded against the others'; a calibration error is least for who always says the prior.
enum class Better { kLower, kHigher, kNeither };

struct MetricInfo {
  std::string name;  ///< as in reports: "log_loss", "f1_up", "coverage_0.9"
  Better better = Better::kNeither;
  /// Noise alone raises it (ece): a resample, with noise upon noise, is too high by about as much
  /// as the value is, so its interval is the reflected one.
  bool raised_by_noise = false;
};

/// The metrics of a task, the main one first: the loss by which an edge is judged.
///   classification  log_loss brier ece accuracy balanced_accuracy macro_f1 mcc auc rank_ic
///   f1_<class>… regression      rmse mae r2 rank_ic pearson_ic quantiles       pinball
///   pinball_<q>… coverage_<q>… and rank_ic of the level nearest to 0.5
std::vector<MetricInfo> metrics_of(const Task& task);

struct Scorer {
  Statistic score;                 ///< writes one value for each of metrics_of()
  std::vector<double> row_losses;  ///< [N] the main loss, row by row (squared errors for rmse)
};

/// Lifetime  the scorer copies what it needs.
/// Errors    ShapeError, DataError naming the forecaster and the row. `rows` have passed
/// check_rows(). Cost      O(N log N) to make; a score() is O(N) for each metric.
Scorer make_scorer(const Task& task, const EvaluationRows& rows, const Forecasts& forecasts,
                   std::size_t calibration_bins = 10);

}  // namespace foxhunt::evaluation
