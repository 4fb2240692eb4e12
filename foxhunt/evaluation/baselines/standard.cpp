#include "foxhunt/evaluation/baselines/standard.h"

#include <fmt/format.h>

#include "foxhunt/evaluation/baselines/logistic.h"
#include "foxhunt/evaluation/baselines/persistence.h"
#include "foxhunt/evaluation/baselines/prior.h"
#include "foxhunt/evaluation/baselines/ridge.h"

namespace foxhunt::evaluation {
namespace {

/// The numbers of one forecaster on two splits: the training ones give the residuals.
struct PointForecasts {
  std::string name;
  std::vector<double> train;
  std::vector<double> test;
};

std::vector<PointForecasts> point_baselines(const BaselineSplits& rows,
                                            std::vector<std::string>& notes) {
  const auto& train = rows.train;
  std::vector<PointForecasts> all;
  const double mean = mean_outcome(train.outcomes);
  all.push_back({"mean", std::vector<double>(train.outcomes.size(), mean),
                 std::vector<double>(rows.test.features.rows(), mean)});
  notes.push_back(fmt::format("mean: {:.6g} over {} training rows", mean, train.outcomes.size()));

  const PersistenceLine line = PersistenceLine::fit(train.last_moves, train.outcomes);
  all.push_back(
      {"persistence", line.predict(train.last_moves), line.predict(rows.test.last_moves)});
  notes.push_back(
      fmt::format("persistence: {:.6g} + {:.6g} x last move", line.intercept, line.slope));

  const RidgeModel ridge =
      choose_ridge({train.features, train.outcomes}, {rows.valid.features, rows.valid.outcomes});
  all.push_back({"ridge", ridge.predict(train.features), ridge.predict(rows.test.features)});
  notes.push_back(fmt::format("ridge: l2 {:g}, chosen on {} validation rows", ridge.l2,
                              rows.valid.outcomes.size()));
  return all;
}

}  // namespace

Baselines classification_baselines(const BaselineSplits& rows, std::size_t n_classes) {
  const auto& train = rows.train;
  Baselines result;
  const std::vector<double> prior = class_prior(train.labels, n_classes);
  result.forecasts.push_back({"prior", repeat(prior, rows.test.features.rows())});
  result.notes.push_back(
      fmt::format("prior: class shares of {} training rows", train.labels.size()));

  const PersistenceTable table(train.last_classes, train.labels, n_classes);
  result.forecasts.push_back({"persistence", table.predict(rows.test.last_classes)});
  result.notes.push_back("persistence: class shares of the training rows after a like last move");

  const LogisticFit fit = choose_logistic({train.features, train.labels},
                                          {rows.valid.features, rows.valid.labels}, n_classes);
  result.forecasts.push_back({"logistic", fit.model.predict(rows.test.features)});
  result.notes.push_back(
      fmt::format("logistic: l2 {:g}, chosen on {} validation rows; {} after {} Newton steps "
                  "(largest gradient {:.1e})",
                  fit.l2, rows.valid.labels.size(), fit.converged ? "converged" : "NOT converged",
                  fit.steps, fit.gradient));
  return result;
}

Baselines regression_baselines(const BaselineSplits& rows) {
  Baselines result;
  for (PointForecasts& point : point_baselines(rows, result.notes)) {
    result.forecasts.push_back({std::move(point.name), std::move(point.test)});
  }
  return result;
}

Baselines quantile_baselines(const BaselineSplits& rows, std::span<const double> levels) {
  Baselines result;
  for (PointForecasts& point : point_baselines(rows, result.notes)) {
    std::vector<double> residuals(point.train.size());
    for (std::size_t i = 0; i < residuals.size(); ++i)
      residuals[i] = rows.train.outcomes[i] - point.train[i];
    result.forecasts.push_back(
        {std::move(point.name), around(point.test, outcome_quantiles(residuals, levels))});
  }
  return result;
}

}  // namespace foxhunt::evaluation
