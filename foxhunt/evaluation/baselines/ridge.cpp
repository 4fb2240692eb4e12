#include "foxhunt/evaluation/baselines/ridge.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include <Eigen/Dense>

#include "foxhunt/base/error.h"
#include "foxhunt/evaluation/baselines/prior.h"
#include "foxhunt/evaluation/metrics/regression.h"

namespace foxhunt::evaluation {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd to_matrix(FeatureRows x) {
  using FloatRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const FloatRows>(x.values.data(), static_cast<Index>(x.rows()),
                                     static_cast<Index>(x.cols))
      .cast<double>();
}

}  // namespace

std::vector<double> RidgeModel::predict(FeatureRows x) const {
  if (x.cols != weights.size()) {
    throw ShapeError(
        fmt::format("[baselines] rows of {} features, but the ridge model was fitted on {}", x.cols,
                    weights.size()));
  }
  if (x.values.empty()) return {};
  check_features(x, x.rows(), "predicted");
  const Eigen::Map<const VectorXd> w(weights.data(), static_cast<Index>(weights.size()));
  std::vector<double> forecast(x.rows());
  Eigen::Map<VectorXd>(forecast.data(), static_cast<Index>(forecast.size())) =
      (to_matrix(x) * w).array() + intercept;
  return forecast;
}

RidgeModel fit_ridge(FeatureRows x, std::span<const double> outcomes, double l2) {
  check_features(x, outcomes.size(), "training");
  if (!(l2 > 0))
    throw ShapeError(fmt::format("[baselines] l2 = {} of the ridge model must be above 0", l2));
  const double mean_y = mean_outcome(outcomes);  // checks the outcomes
  const auto n = static_cast<double>(outcomes.size());

  MatrixXd centred = to_matrix(x);
  const Eigen::RowVectorXd mean_x = centred.colwise().mean();
  centred.rowwise() -= mean_x;
  const Eigen::Map<const VectorXd> y(outcomes.data(), static_cast<Index>(outcomes.size()));
  MatrixXd normal = centred.transpose() * centred / n;
  normal.diagonal().array() += l2;
  const VectorXd w = normal.llt().solve(centred.transpose() * (y.array() - mean_y).matrix() / n);

  return {.weights = std::vector<double>(w.data(), w.data() + w.size()),
          .intercept = mean_y - mean_x.dot(w),
          .l2 = l2};
}

RidgeModel choose_ridge(const RidgeRows& train, const RidgeRows& valid,
                        std::span<const double> grid) {
  if (grid.empty()) throw ShapeError("[baselines] the grid of l2 for the ridge model is empty");
  std::vector<double> strongest_first(grid.begin(), grid.end());
  std::sort(strongest_first.begin(), strongest_first.end(), std::greater<>());
  check_features(valid.x, valid.outcomes.size(), "validation");
  mean_outcome(valid.outcomes);  // checks the outcomes
  RidgeModel best;
  double least = std::numeric_limits<double>::infinity();
  for (const double l2 : strongest_first) {
    RidgeModel fit = fit_ridge(train.x, train.outcomes, l2);
    const double mse = *mean(squared_errors(fit.predict(valid.x), valid.outcomes));
    if (mse < least) {
      least = mse;
      best = std::move(fit);
    }
  }
  return best;
}

}  // namespace foxhunt::evaluation
