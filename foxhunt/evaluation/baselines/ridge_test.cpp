#include "foxhunt/evaluation/baselines/ridge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::evaluation {
namespace {

struct Sample {
  Sample(std::size_t n, const std::vector<double>& w, double intercept, double noise,
         std::uint64_t seed)
      : cols(w.size()) {
    Rng rng(seed);
    for (std::size_t i = 0; i < n; ++i) {
      double outcome = intercept + noise * rng.normal();
      for (const double wj : w) {
        x.push_back(static_cast<float>(rng.normal() + 0.5));
        outcome += wj * x.back();
      }
      y.push_back(outcome);
    }
  }
  FeatureRows rows() const { return {x, cols}; }

  std::size_t cols;
  std::vector<float> x;
  std::vector<double> y;
};

TEST(Ridge, SatisfiesTheNormalEquationsRowByRow) {
  const Sample s(300, {0.5, -1, 0, 2}, 3, 1, 1);
  for (const double l2 : {1e-6, 0.1, 10.0}) {
    const RidgeModel fit = fit_ridge(s.rows(), s.y, l2);
    const auto forecast = fit.predict(s.rows());
    double sum = 0;
    std::vector<double> against(s.cols, 0.0);
    for (std::size_t i = 0; i < s.y.size(); ++i) {
      const double residual = s.y[i] - forecast[i];
      sum += residual;
      for (std::size_t j = 0; j < s.cols; ++j) against[j] += residual * s.x[i * s.cols + j];
    }
    const auto n = static_cast<double>(s.y.size());
    EXPECT_NEAR(sum / n, 0,
                1e-12);  // a free intercept leaves no mean residual; sums of 300 terms near 1
    for (std::size_t j = 0; j < s.cols; ++j)
      EXPECT_NEAR(against[j] / n, l2 * fit.weights[j], 1e-12) << j;
  }
}

TEST(Ridge, OfOneFeatureIsCovarianceOverVariancePlusL2) {
  const std::vector<float> x{0, 2};
  const std::vector<double> y{1, 5};
  const RidgeModel fit = fit_ridge({x, 1}, y, 1.0);
  EXPECT_DOUBLE_EQ(fit.weights[0], 2.0 / (1.0 + 1.0));  // covariance 2, variance 1
  EXPECT_DOUBLE_EQ(fit.intercept, 3 - 1.0 * 1);
}

TEST(Ridge, RecoversTheWeightsThatMadeTheOutcomes) {
  const std::vector<double> w{0.5, -1, 0, 2};
  const RidgeModel exact =
      fit_ridge(Sample(50, w, 3, 0, 2).rows(), Sample(50, w, 3, 0, 2).y, 1e-12);
  for (std::size_t j = 0; j < w.size(); ++j) EXPECT_NEAR(exact.weights[j], w[j], 1e-9) << j;
  EXPECT_NEAR(exact.intercept, 3, 1e-9);
}

TEST(Ridge, SharesAWeightBetweenEqualColumnsAndIgnoresAConstantOne) {
  std::vector<float> x;
  std::vector<double> y;
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const auto v = static_cast<float>(rng.normal());
    x.insert(x.end(), {v, v, 7.0F});
    y.push_back(4.0 * v);
  }
  const RidgeModel fit = fit_ridge({x, 3}, y, 1e-8);
  EXPECT_NEAR(fit.weights[0], 2, 1e-6);
  EXPECT_NEAR(fit.weights[1], 2, 1e-6);
  EXPECT_NEAR(fit.weights[2], 0, 1e-6);
}

TEST(ChooseRidge, TakesWhatTheValidationRowsLike) {
  const Sample train(200, {1, 1, 1}, 0, 0.5, 4);
  const Sample valid(1000, {1, 1, 1}, 0, 0.5, 5);
  EXPECT_LE(choose_ridge({train.rows(), train.y}, {valid.rows(), valid.y}).l2, 1e-2);
  const std::vector<double> nothing(20, 0.0);
  const Sample noise(60, nothing, 0, 1, 6);
  const Sample more(2000, nothing, 0, 1, 7);
  EXPECT_EQ(choose_ridge({noise.rows(), noise.y}, {more.rows(), more.y}).l2, 10.0);
}

TEST(Ridge, NamesWhatItCannotUse) {
  const std::vector<float> x{1, 2, 3, 4};
  const std::vector<double> y{1, 2};
  EXPECT_THROW(fit_ridge({x, 2}, y, 0), ShapeError);
  EXPECT_THROW(fit_ridge({x, 3}, y, 1), ShapeError);
  EXPECT_THROW(fit_ridge({x, 2}, std::vector{1.0, std::nan("")}, 1), DataError);
  EXPECT_THROW(fit_ridge({{}, 2}, {}, 1), ShapeError);
  EXPECT_THROW(choose_ridge({{x, 2}, y}, {{x, 2}, y}, {}), ShapeError);
  EXPECT_THROW(fit_ridge({x, 2}, y, 1).predict({x, 4}), ShapeError);
  const std::vector<float> bad{1, std::numeric_limits<float>::infinity()};
  EXPECT_THROW(fit_ridge({x, 2}, y, 1).predict({bad, 2}), DataError);
}

}  // namespace
}  // namespace foxhunt::evaluation
