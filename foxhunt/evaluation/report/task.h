#pragma once
// What was asked of the forecasters, and the rows on which they were asked.

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "foxhunt/base/time.h"

namespace foxhunt::evaluation {

/// Class probabilities.
struct ClassificationTask {
  std::vector<std::string> class_names{"down", "flat", "up"};
  /// The rank IC ranks P(up) - P(down).
  std::size_t down = 0;
  std::size_t up = 2;
};

/// One number, in the unit of the outcome.
struct RegressionTask {
  double train_mean =
      0;  ///< mean outcome of the training rows: what an out-of-sample R^2 of 0 forecasts
};

/// Quantiles at `levels`, ascending, each within (0, 1).
struct QuantileTask {
  std::vector<double> levels{0.1, 0.5, 0.9};
};

using Task = std::variant<ClassificationTask, RegressionTask, QuantileTask>;

/// Values a row of forecasts has.
std::size_t forecast_width(const Task& task);

/// The rows judged, oldest first. All vectors have length N, but `labels` (classification only) and
/// `hours`.
struct EvaluationRows {
  std::vector<UnixNanos> times{};  ///< when each forecast was made; not descending
  std::vector<Date> sessions{};    ///< trade date; not descending
  std::vector<double>
      outcomes{};             ///< what came true, e.g. the return over the horizon, in one unit
  std::vector<int> labels{};  ///< true classes
  std::vector<int> hours{};   ///< key of the table by hour; empty: the hour of the day in UTC
  std::string hour_name = "UTC hour";

  std::size_t size() const { return times.size(); }
  /// The rows of these indices, in their order.
  EvaluationRows subset(const std::vector<std::size_t>& rows) const;
};

/// Errors  DataError when there is no row, a time or a session descends, a label or an outcome is
/// unusable; ShapeError
///         when lengths differ or the task contradicts itself. Each names the row or the setting.
void check_rows(const EvaluationRows& rows, const Task& task);

}  // namespace foxhunt::evaluation
