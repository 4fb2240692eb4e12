#include "foxhunt/evaluation/baselines/logistic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/evaluation/baselines/prior.h"

namespace foxhunt::evaluation {
namespace {

/// Rows whose classes come from known weights [K, F + 1].
struct Sample {
  Sample(std::size_t n, std::size_t n_features, const std::vector<double>& weights,
         std::uint64_t seed)
      : cols(n_features) {
    Rng rng(seed);
    const std::size_t d = n_features + 1;
    const std::size_t n_classes = weights.size() / d;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n_features; ++j) x.push_back(static_cast<float>(rng.normal()));
      std::vector<double> odds;
      double total = 0;
      for (std::size_t k = 0; k < n_classes; ++k) {
        double score = weights[k * d + n_features];
        for (std::size_t j = 0; j < n_features; ++j)
          score += weights[k * d + j] * x[i * n_features + j];
        odds.push_back(std::exp(score));
        total += odds.back();
      }
      double u = rng.uniform() * total;
      std::size_t k = 0;
      while (k + 1 < n_classes && u >= odds[k]) u -= odds[k++];
      labels.push_back(static_cast<int>(k));
    }
  }
  FeatureRows rows() const { return {x, cols}; }

  std::size_t cols;
  std::vector<float> x;
  std::vector<int> labels;
};

/// The objective of logistic.h, written row by row.
double objective(const Sample& s, const std::vector<double>& weights, double l2) {
  const std::size_t d = s.cols + 1;
  const std::size_t n_classes = weights.size() / d;
  const auto nll = [&](const float* x, int label) {
    double total = 0;
    double own = 0;
    for (std::size_t k = 0; k < n_classes; ++k) {
      double score = weights[k * d + s.cols];
      for (std::size_t j = 0; j < s.cols; ++j) score += weights[k * d + j] * x[j];
      total += std::exp(score);
      if (static_cast<std::size_t>(label) == k) own = score;
    }
    return std::log(total) - own;
  };
  double sum = 0;
  for (std::size_t i = 0; i < s.labels.size(); ++i) sum += nll(&s.x[i * s.cols], s.labels[i]);
  const std::vector<float> zeros(s.cols, 0.0F);
  for (std::size_t k = 0; k < n_classes; ++k) sum += nll(zeros.data(), static_cast<int>(k));
  double penalty = 0;
  for (std::size_t k = 0; k < n_classes; ++k) {
    for (std::size_t j = 0; j < s.cols; ++j) penalty += weights[k * d + j] * weights[k * d + j];
  }
  return sum / static_cast<double>(s.labels.size() + n_classes) + l2 / 2 * penalty;
}

const std::vector<double> kWeights{0.8,  -0.5, 0.0,  0.3,    //
                                   -0.2, 0.1,  0.4,  -0.1,   //
                                   -0.6, 0.4,  -0.4, -0.2};  // [3, 3 + 1], columns sum to 0

TEST(Logistic, EndsWhereTheGradientOfTheWrittenOutObjectiveIsZero) {
  const Sample s(200, 3, kWeights, 1);
  for (const double l2 : {1e-4, 1e-2, 1.0}) {
    const LogisticFit fit = fit_logistic(s.rows(), s.labels, 3, l2);
    EXPECT_TRUE(fit.converged) << fit.gradient;
    const double least = objective(s, fit.model.weights, l2);
    for (std::size_t i = 0; i < fit.model.weights.size(); ++i) {
      const double h = 1e-5;
      std::vector<double> w = fit.model.weights;
      w[i] += h;
      const double above = objective(s, w, l2);
      w[i] -= 2 * h;
      const double below = objective(s, w, l2);
      // Central difference: rounding 1e-16 / 1e-5 = 1e-11, curvature h^2 = 1e-10.
      EXPECT_NEAR((above - below) / (2 * h), 0, 1e-9) << i;
      EXPECT_GE(above, least);
      EXPECT_GE(below, least);
    }
  }
}

TEST(Logistic, RecoversTheWeightsThatMadeTheRows) {
  const Sample s(20'000, 3, kWeights, 2);
  const LogisticFit fit = fit_logistic(s.rows(), s.labels, 3, 1e-8);
  // Both sets sum to 0 over the classes, the form that the penalty and the pinned intercepts
  // choose. A standard error is about 1 / sqrt(N p (1 - p)) = 0.015.
  for (std::size_t i = 0; i < kWeights.size(); ++i)
    EXPECT_NEAR(fit.model.weights[i], kWeights[i], 0.06) << i;
}

TEST(Logistic, OfAFeatureThatSplitsTheRowsGivesTheSharesOfEachHalf) {
  // x = -1: 3 of 4 rows are class 0; x = +1: 1 of 4. Saturated, so that the answer is closed: the
  // shares themselves, up to the two pseudo-rows and the l2 among 8,000 rows.
  std::vector<float> x;
  std::vector<int> labels;
  for (int i = 0; i < 8000; ++i) {
    x.push_back(i % 2 == 0 ? -1.0F : 1.0F);
    labels.push_back(i % 2 == 0 ? (i / 2 % 4 == 0 ? 1 : 0) : (i / 2 % 4 == 0 ? 0 : 1));
  }
  const LogisticFit fit = fit_logistic({x, 1}, labels, 2, 1e-9);
  const std::vector<float> asked{-1, 1};
  const auto p = fit.model.predict({asked, 1});
  EXPECT_NEAR(p[0], 0.75, 1e-4);
  EXPECT_NEAR(p[3], 0.75, 1e-4);
}

TEST(Logistic, IsTheClassPriorWhereTheFeaturesSayNothing) {
  const std::vector<int> labels{0, 0, 1, 2, 2, 2};
  const std::vector<double> prior = class_prior(labels, 3);
  const std::vector<float> zeros(12, 0.0F);
  const auto flat =
      fit_logistic({zeros, 2}, labels, 3, 0.1).model.predict({std::span(zeros).first(2), 2});
  const Sample s(6, 2, std::vector<double>(9, 0.0), 3);
  const auto strong = fit_logistic(s.rows(), labels, 3, 1e9).model.predict(s.rows());
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(flat[k], prior[k], 1e-9);    // the gradient tolerance
    EXPECT_NEAR(strong[k], prior[k], 1e-8);  // weights of at most 1e-9 remain
  }
}

TEST(Logistic, ConvergesOnSeparableRowsAndWithAClassThatNeverOccurs) {
  std::vector<float> x;
  std::vector<int> labels;
  for (int i = 0; i < 100; ++i) {
    x.push_back(static_cast<float>(i - 50) + 0.5F);  // not normalised: |x| up to 50
    labels.push_back(i < 50 ? 0 : 1);
  }
  const LogisticFit fit = fit_logistic({x, 1}, labels, 3, 1e-4);
  EXPECT_TRUE(fit.converged) << fit.gradient;
  EXPECT_LE(fit.steps, 30);
  const auto p = fit.model.predict({x, 1});
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_NEAR(p[3 * i] + p[3 * i + 1] + p[3 * i + 2], 1, 1e-14);
    EXPECT_GT(p[3 * i + static_cast<std::size_t>(labels[i])], 0.5) << i;
    EXPECT_GT(p[3 * i + 2], 0);
  }
}

TEST(Logistic, GivesTheSameBitsTwice) {
  const Sample s(500, 3, kWeights, 4);
  const auto a = fit_logistic(s.rows(), s.labels, 3, 1e-3);
  const auto b = fit_logistic(s.rows(), s.labels, 3, 1e-3);
  EXPECT_EQ(a.model.weights, b.model.weights);
}

TEST(ChooseLogistic, TakesAStrongPenaltyOnNoiseAndAWeakOneOnSignal) {
  std::vector<double> strong = kWeights;
  for (double& w : strong) w *= 3;
  const Sample train(400, 3, strong, 5);
  const Sample valid(2000, 3, strong, 6);
  EXPECT_LE(choose_logistic({train.rows(), train.labels}, {valid.rows(), valid.labels}, 3).l2,
            1e-2);

  const std::vector<double> nothing(48, 0.0);  // [3, 15 + 1]
  const Sample noise(100, 15, nothing, 7);
  const Sample more(2000, 15, nothing, 8);
  EXPECT_EQ(choose_logistic({noise.rows(), noise.labels}, {more.rows(), more.labels}, 3).l2, 1.0);
}

TEST(Logistic, NamesWhatItCannotUse) {
  const std::vector<float> x{1, 2, std::numeric_limits<float>::quiet_NaN(), 4};
  try {
    fit_logistic({x, 2}, std::vector{0, 1}, 2, 0.1);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "[baselines] training row 1, column 0: feature nan is not finite");
  }
  const std::vector<float> good{1, 2, 3, 4};
  EXPECT_THROW(fit_logistic({good, 2}, std::vector{0, 1, 0}, 2, 0.1), ShapeError);
  EXPECT_THROW(fit_logistic({good, 2}, std::vector{0, 2}, 2, 0.1), DataError);
  EXPECT_THROW(fit_logistic({good, 2}, std::vector{0, 1}, 2, 0.0), ShapeError);
  EXPECT_THROW(fit_logistic({{}, 2}, {}, 2, 0.1), ShapeError);
  EXPECT_THROW(choose_logistic({{good, 2}, std::vector{0, 1}}, {{}, {}}, 2), ShapeError);
  EXPECT_THROW(
      choose_logistic({{good, 2}, std::vector{0, 1}}, {{good, 2}, std::vector{0, 1}}, 2, {}),
      ShapeError);
  const LogisticFit fit = fit_logistic({good, 2}, std::vector{0, 1}, 2, 0.1);
  EXPECT_THROW(fit.model.predict({good, 4}), ShapeError);
  EXPECT_TRUE(fit.model.predict({{}, 2}).empty());
}

}  // namespace
}  // namespace foxhunt::evaluation
