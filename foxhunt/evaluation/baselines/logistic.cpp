#include "foxhunt/evaluation/baselines/logistic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <Eigen/Dense>

#include "foxhunt/base/error.h"
#include "foxhunt/evaluation/baselines/prior.h"
#include "foxhunt/evaluation/metrics/classification.h"
#include "foxhunt/evaluation/metrics/weights.h"

namespace foxhunt::evaluation {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// [N, F + 1] with the constant column last.
MatrixXd with_intercept(FeatureRows x) {
  const auto n = static_cast<Index>(x.rows());
  const auto f = static_cast<Index>(x.cols);
  using FloatRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  MatrixXd matrix(n, f + 1);
  matrix.leftCols(f) = Eigen::Map<const FloatRows>(x.values.data(), n, f).cast<double>();
  matrix.col(f).setOnes();
  return matrix;
}

/// Softmax of each row, in place; returns the log of each row's normaliser.
VectorXd softmax_rows(MatrixXd& scores) {
  const VectorXd top = scores.rowwise().maxCoeff();
  scores.colwise() -= top;
  scores = scores.array().exp();
  const VectorXd sums = scores.rowwise().sum();
  for (Index k = 0; k < scores.cols(); ++k) scores.col(k).array() /= sums.array();
  return sums.array().log().matrix() + top;
}

/// The penalised negative log-likelihood, its gradient and its Hessian, for weights [F + 1, K].
class Objective {
 public:
  Objective(FeatureRows x, std::span<const int> labels, std::size_t n_classes, double l2)
      : x_(with_intercept(x)), k_(static_cast<Index>(n_classes)), l2_(l2) {
    // The pseudo-rows: all features 0, one of each class.
    const Index n = x_.rows();
    x_.conservativeResize(n + k_, Eigen::NoChange);
    x_.bottomRows(k_).setZero();
    x_.bottomRightCorner(k_, 1).setOnes();
    labels_.reserve(static_cast<std::size_t>(n + k_));
    for (const int label : labels) labels_.push_back(label);
    for (Index k = 0; k < k_; ++k) labels_.push_back(k);
  }
  Index width() const { return x_.cols(); }

  /// The value at `w`; leaves the probabilities for the other two.
  double value(const MatrixXd& w) {
    p_.noalias() = x_ * w;
    double right = 0;
    for (Index i = 0; i < x_.rows(); ++i) right += p_(i, labels_[static_cast<std::size_t>(i)]);
    const double normalisers = softmax_rows(p_).sum();
    const double drift = w.row(width() - 1).sum();
    return (normalisers - right) / rows() + l2_ / 2 * w.topRows(width() - 1).squaredNorm() +
           drift * drift / 2;
  }

  MatrixXd gradient(const MatrixXd& w) const {
    MatrixXd error = p_;
    for (Index i = 0; i < error.rows(); ++i) error(i, labels_[static_cast<std::size_t>(i)]) -= 1;
    MatrixXd g = x_.transpose() * error / rows();
    g.topRows(width() - 1) += l2_ * w.topRows(width() - 1);
    g.row(width() - 1).array() += w.row(width() - 1).sum();
    return g;
  }

  /// [K (F + 1), K (F + 1)] for the columns of w below each other.
  MatrixXd hessian() const {
    const Index d = width();
    MatrixXd h(k_ * d, k_ * d);
    for (Index a = 0; a < k_; ++a) {
      for (Index b = 0; b <= a; ++b) {
        const VectorXd curvature =
            (p_.col(a).array() * ((a == b ? 1.0 : 0.0) - p_.col(b).array())).matrix() / rows();
        MatrixXd block = x_.transpose() * (curvature.asDiagonal() * x_);
        if (a == b) block.diagonal().head(d - 1).array() += l2_;
        // Only differences of intercepts matter. The square of their sum, 0 at the minimum, pins
        // the rest.
        block(d - 1, d - 1) += 1;
        h.block(a * d, b * d, d, d) = block;
        h.block(b * d, a * d, d, d) = block;  // each block is symmetric
      }
    }
    return h;
  }

 private:
  double rows() const { return static_cast<double>(x_.rows()); }

  MatrixXd x_;  // [N + K, F + 1]
  Index k_;
  double l2_;
  std::vector<Index> labels_;  // [N + K]
  MatrixXd p_;                 // [N + K, K] at the weights of the last value()
};

}  // namespace

std::vector<double> LogisticModel::predict(FeatureRows x) const {
  if (x.cols != n_features) {
    throw ShapeError(
        fmt::format("[baselines] rows of {} features, but the logistic model was fitted on {}",
                    x.cols, n_features));
  }
  if (x.values.empty()) return {};
  check_features(x, x.rows(), "predicted");
  using DoubleRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto k = static_cast<Index>(n_classes);
  const Eigen::Map<const DoubleRows> w(weights.data(), k, static_cast<Index>(n_features) + 1);
  MatrixXd p = with_intercept(x) * w.transpose();
  softmax_rows(p);
  std::vector<double> result(x.rows() * n_classes);
  Eigen::Map<DoubleRows>(result.data(), p.rows(), k) = p;
  return result;
}

LogisticFit fit_logistic(FeatureRows x, std::span<const int> labels, std::size_t n_classes,
                         double l2) {
  check_features(x, labels.size(), "training");
  class_prior(labels, n_classes);  // checks the labels
  if (!(l2 > 0))
    throw ShapeError(fmt::format("[baselines] l2 = {} of the logistic model must be above 0", l2));

  Objective objective(x, labels, n_classes, l2);
  const auto k = static_cast<Index>(n_classes);
  MatrixXd w = MatrixXd::Zero(objective.width(), k);
  LogisticFit fit{.model = {.n_classes = n_classes, .n_features = x.cols, .weights = {}}, .l2 = l2};
  double value = objective.value(w);
  constexpr int kMaxSteps = 100;
  for (;;) {
    const MatrixXd gradient = objective.gradient(w);
    fit.gradient = gradient.cwiseAbs().maxCoeff();
    fit.converged = fit.gradient <= kGradientTolerance;
    if (fit.converged || fit.steps == kMaxSteps) break;
    const VectorXd step = objective.hessian().ldlt().solve(gradient.reshaped());
    const double slope = step.dot(gradient.reshaped());
    // Half steps until the value falls by a share of what the slope promises. The slack is the
    // rounding of a sum over many rows: close to the minimum a step gains less than that, and is
    // still right.
    const double slack = 1e-12 * (1 + std::abs(value));
    double size = 1;
    MatrixXd next;
    double next_value = 0;
    for (int halvings = 0; halvings < 40; ++halvings, size /= 2) {
      next = w - size * step.reshaped(w.rows(), w.cols());
      next_value = objective.value(next);
      if (next_value <= value - 1e-4 * size * slope + slack) break;
    }
    if (!(next_value <= value + slack)) break;  // nothing left to gain in float64
    w = next;
    value = next_value;
    ++fit.steps;
  }
  for (Index a = 0; a < k; ++a) {
    for (Index j = 0; j < w.rows(); ++j) fit.model.weights.push_back(w(j, a));
  }
  return fit;
}

LogisticFit choose_logistic(const LogisticRows& train, const LogisticRows& valid,
                            std::size_t n_classes, std::span<const double> grid) {
  if (grid.empty()) throw ShapeError("[baselines] the grid of l2 for the logistic model is empty");
  std::vector<double> strongest_first(grid.begin(), grid.end());
  std::sort(strongest_first.begin(), strongest_first.end(), std::greater<>());
  check_features(valid.x, valid.labels.size(), "validation");
  class_prior(valid.labels, n_classes);  // checks the labels
  LogisticFit best;
  double least = std::numeric_limits<double>::infinity();
  for (const double l2 : strongest_first) {
    LogisticFit fit = fit_logistic(train.x, train.labels, n_classes, l2);
    const std::vector<double> p = fit.model.predict(valid.x);
    const double loss = *mean(log_losses({p, n_classes}, valid.labels));
    if (loss < least) {
      least = loss;
      best = std::move(fit);
    }
  }
  return best;
}

}  // namespace foxhunt::evaluation
