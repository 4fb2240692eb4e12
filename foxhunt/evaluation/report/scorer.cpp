#include "foxhunt/evaluation/report/scorer.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "foxhunt/base/error.h"
#include "foxhunt/evaluation/metrics/calibration.h"
#include "foxhunt/evaluation/metrics/classification.h"
#include "foxhunt/evaluation/metrics/ranks.h"
#include "foxhunt/evaluation/metrics/regression.h"

namespace foxhunt::evaluation {
namespace {

std::vector<double> column(RowMatrix m, std::size_t j) {
  std::vector<double> values(m.rows());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = m.at(i, j);
  return values;
}

std::size_t nearest_to_median(const std::vector<double>& levels) {
  std::size_t nearest = 0;
  for (std::size_t q = 1; q < levels.size(); ++q) {
    if (std::abs(levels[q] - 0.5) < std::abs(levels[nearest] - 0.5)) nearest = q;
  }
  return nearest;
}

/// What the metrics of classes need, prepared once.
struct ClassState {
  ClassState(const ClassificationTask& task, const EvaluationRows& rows, RowMatrix p,
             std::size_t n_bins)
      : truth(rows.labels),
        predicted(predicted_classes(p)),
        log_loss(log_losses(p, truth)),
        brier(brier_losses(p, truth)),
        calibrator(p, truth, n_bins),
        outcome(rows.outcomes),
        direction(directions(task, p)) {
    for (std::size_t k = 0; k < p.cols; ++k) {
      by_class.emplace_back(column(p, k));
      occurred.emplace_back(truth.size());
      for (std::size_t i = 0; i < truth.size(); ++i) {
        occurred[k][i] = static_cast<std::size_t>(truth[i]) == k ? 1 : 0;
      }
    }
  }
  static Ordering directions(const ClassificationTask& task, RowMatrix p) {
    std::vector<double> score(p.rows());
    for (std::size_t i = 0; i < score.size(); ++i) score[i] = p.at(i, task.up) - p.at(i, task.down);
    return Ordering(score);
  }

  /// Mean over the classes of each against the rest.
  Value macro_auc(Weights w) const {
    double sum = 0;
    for (std::size_t k = 0; k < by_class.size(); ++k) {
      const Value a = auc(by_class[k], occurred[k], w);
      if (!a) return Value::undefined("a class did not occur, or no other");
      sum += *a;
    }
    return Value::of(sum / static_cast<double>(by_class.size()));
  }

  void score(Weights w, std::span<Value> out) const {
    const Confusion c = confusion(by_class.size(), truth, predicted, w);
    std::size_t i = 0;
    out[i++] = mean(log_loss, w);
    out[i++] = mean(brier, w);
    out[i++] = expected_calibration_error(calibrator.at(w));
    out[i++] = c.accuracy();
    out[i++] = c.balanced_accuracy();
    out[i++] = c.macro_f1();
    out[i++] = c.mcc();
    out[i++] = macro_auc(w);
    out[i++] = spearman(direction, outcome, w);
    for (std::size_t k = 0; k < by_class.size(); ++k) out[i++] = c.f1(k);
  }

  std::vector<int> truth;
  std::vector<int> predicted;
  std::vector<double> log_loss;
  std::vector<double> brier;
  Calibrator calibrator;
  Ordering outcome;
  Ordering direction;
  std::vector<Ordering> by_class;
  std::vector<std::vector<std::uint8_t>> occurred;
};

struct NumberState {
  void score(Weights w, std::span<Value> out) const {
    out[0] = rmse(squared, w);
    out[1] = mean(absolute, w);
    out[2] = r2_out_of_sample(forecast, outcome, train_mean, w);
    out[3] = spearman(by_forecast, by_outcome, w);
    out[4] = pearson(forecast, outcome, w);
  }

  double train_mean;
  std::vector<double> forecast;
  std::vector<double> outcome;
  std::vector<double> squared;
  std::vector<double> absolute;
  Ordering by_forecast;
  Ordering by_outcome;
};

struct QuantileState {
  void score(Weights w, std::span<Value> out) const {
    std::size_t i = 0;
    out[i++] = mean(pinball_mean, w);
    for (const auto& losses : pinball) out[i++] = mean(losses, w);
    for (const auto& hits : coverage) out[i++] = mean(hits, w);
    out[i++] = spearman(by_median, by_outcome, w);
  }

  std::vector<double> pinball_mean;           // [N] over the levels
  std::vector<std::vector<double>> pinball;   // [Q][N]
  std::vector<std::vector<double>> coverage;  // [Q][N]
  Ordering by_median;
  Ordering by_outcome;
};

/// A Scorer around a state that lives as long as it.
template <class State>
Scorer around_state(std::shared_ptr<const State> state, std::vector<double> row_losses) {
  return {[state = std::move(state)](Weights w, std::span<Value> out) { state->score(w, out); },
          std::move(row_losses)};
}

Scorer scorer_of(const ClassificationTask& task, const EvaluationRows& rows, const Forecasts& f,
                 std::size_t bins) {
  const RowMatrix p{f.values, task.class_names.size()};
  check_probabilities(p, rows.labels);
  const auto state = std::make_shared<const ClassState>(task, rows, p, bins);
  return around_state(state, state->log_loss);
}

Scorer scorer_of(const RegressionTask& task, const EvaluationRows& rows, const Forecasts& f,
                 std::size_t /*bins*/) {
  check_forecasts(f.values, 1, rows.outcomes);
  const auto state = std::make_shared<const NumberState>(
      NumberState{.train_mean = task.train_mean,
                  .forecast = f.values,
                  .outcome = rows.outcomes,
                  .squared = squared_errors(f.values, rows.outcomes),
                  .absolute = absolute_errors(f.values, rows.outcomes),
                  .by_forecast = Ordering(f.values),
                  .by_outcome = Ordering(rows.outcomes)});
  return around_state(state, state->squared);
}

Scorer scorer_of(const QuantileTask& task, const EvaluationRows& rows, const Forecasts& f,
                 std::size_t /*bins*/) {
  const RowMatrix m{f.values, task.levels.size()};
  check_forecasts(f.values, m.cols, rows.outcomes);
  std::vector<double> total(rows.size(), 0.0);
  std::vector<std::vector<double>> pinball;
  std::vector<std::vector<double>> coverage;
  for (std::size_t q = 0; q < m.cols; ++q) {
    const std::vector<double> forecast = column(m, q);
    pinball.push_back(pinball_losses(forecast, task.levels[q], rows.outcomes));
    coverage.push_back(covered(forecast, rows.outcomes));
    for (std::size_t i = 0; i < rows.size(); ++i)
      total[i] += pinball[q][i] / static_cast<double>(m.cols);
  }
  const auto state = std::make_shared<const QuantileState>(
      QuantileState{.pinball_mean = std::move(total),
                    .pinball = std::move(pinball),
                    .coverage = std::move(coverage),
                    .by_median = Ordering(column(m, nearest_to_median(task.levels))),
                    .by_outcome = Ordering(rows.outcomes)});
  return around_state(state, state->pinball_mean);
}

std::vector<MetricInfo> names_of(const ClassificationTask& task) {
  std::vector<MetricInfo> names{{"log_loss", Better::kLower},
                                {"brier", Better::kLower},
                                {"ece", Better::kNeither, /*raised_by_noise=*/true},
                                {"accuracy", Better::kHigher},
                                {"balanced_accuracy", Better::kHigher},
                                {"macro_f1", Better::kHigher},
                                {"mcc", Better::kHigher},
                                {"auc", Better::kHigher},
                                {"rank_ic", Better::kHigher}};
  for (const std::string& name : task.class_names) names.push_back({"f1_" + name});
  return names;
}

std::vector<MetricInfo> names_of(const RegressionTask& /*task*/) {
  return {{"rmse", Better::kLower},
          {"mae", Better::kLower},
          {"r2", Better::kHigher},
          {"rank_ic", Better::kHigher},
          {"pearson_ic", Better::kHigher}};
}

std::vector<MetricInfo> names_of(const QuantileTask& task) {
  std::vector<MetricInfo> names{{"pinball", Better::kLower}};
  for (const double q : task.levels)
    names.push_back({fmt::format("pinball_{}", q), Better::kLower});
  for (const double q : task.levels) names.push_back({fmt::format("coverage_{}", q)});
  names.push_back({"rank_ic", Better::kHigher});
  return names;
}

}  // namespace

std::vector<MetricInfo> metrics_of(const Task& task) {
  return std::visit([](const auto& t) { return names_of(t); }, task);
}

Scorer make_scorer(const Task& task, const EvaluationRows& rows, const Forecasts& forecasts,
                   std::size_t calibration_bins) {
  const std::size_t width = forecast_width(task);
  if (forecasts.values.size() != rows.size() * width) {
    throw ShapeError(fmt::format("[evaluation] {} has {} values, but the {} rows need {} each",
                                 forecasts.name, forecasts.values.size(), rows.size(), width));
  }
  try {
    return std::visit(
        [&](const auto& t) { return scorer_of(t, rows, forecasts, calibration_bins); }, task);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}, in the forecasts of {}", error.what(), forecasts.name));
  }
}

}  // namespace foxhunt::evaluation
