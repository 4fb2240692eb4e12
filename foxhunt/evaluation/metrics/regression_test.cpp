#include "foxhunt/evaluation/metrics/regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt::evaluation {
namespace {

using testing::ElementsAre;

TEST(CheckForecasts, NamesTheRow) {
  const std::vector<double> outcome{1, 2};
  EXPECT_NO_THROW(check_forecasts(std::vector<double>{1, 2, 3, 4}, 2, outcome));
  EXPECT_THROW(check_forecasts(std::vector<double>{1, 2, 3}, 2, outcome), ShapeError);
  EXPECT_THROW(check_forecasts({}, 0, outcome), ShapeError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  try {
    check_forecasts(std::vector<double>{1, 2, 3, nan}, 2, outcome);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "[evaluation] row 1: forecast nan is not finite");
  }
  try {
    check_forecasts(outcome, 1, std::vector<double>{0, INFINITY});
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "[evaluation] row 1: outcome inf is not finite");
  }
}

TEST(Errors, OfAWorkedExample) {
  const std::vector<double> forecast{1, 2, 3};
  const std::vector<double> outcome{2, 2, -1};
  EXPECT_THAT(squared_errors(forecast, outcome), ElementsAre(1, 0, 16));
  EXPECT_THAT(absolute_errors(forecast, outcome), ElementsAre(1, 0, 4));
  EXPECT_DOUBLE_EQ(*rmse(squared_errors(forecast, outcome)), std::sqrt(17.0 / 3));
  EXPECT_STREQ(rmse({}).reason(), "no rows");
}

TEST(R2OutOfSample, IsZeroForTheTrainingMeanAndNegativeForWorse) {
  const std::vector<double> outcome{1, 2, 3};
  const double train_mean = 1.5;
  EXPECT_EQ(*r2_out_of_sample(std::vector<double>(3, train_mean), outcome, train_mean), 0);
  EXPECT_EQ(*r2_out_of_sample(outcome, outcome, train_mean), 1);
  EXPECT_LT(*r2_out_of_sample(std::vector<double>(3, 0.0), outcome, train_mean), 0);
  // The mean of the test rows themselves beats the training mean: not the classical R^2, which
  // would be 0.
  EXPECT_DOUBLE_EQ(*r2_out_of_sample(std::vector<double>(3, 2.0), outcome, train_mean),
                   1 - 2.0 / 2.75);
  EXPECT_FALSE(r2_out_of_sample(outcome, std::vector<double>(3, 1.5), train_mean).defined());
  EXPECT_FALSE(r2_out_of_sample({}, {}, train_mean).defined());
}

TEST(Pearson, IsExactOnALineAndUndefinedOnAConstant) {
  const std::vector<double> x{1, 2, 3, 10};
  const std::vector<double> line{-3, -6, -9, -30};
  EXPECT_DOUBLE_EQ(*pearson(x, line), -1);
  // 0.1 has no exact mean in binary: a naive variance would be tiny, not zero.
  const std::vector<double> flat(4, 0.1);
  EXPECT_STREQ(pearson(flat, x).reason(), "the forecast does not vary");
  EXPECT_STREQ(pearson(x, flat).reason(), "the outcome does not vary");
  EXPECT_STREQ(pearson({}, {}).reason(), "no rows");
  EXPECT_FALSE(pearson(std::vector<double>{1}, std::vector<double>{2}).defined());
}

TEST(Pearson, DoesNotLoseALargeOffset) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 100; ++i) {
    x.push_back(1e9 + i);
    y.push_back(i % 7);
  }
  std::vector<double> near = x;
  for (double& v : near) v -= 1e9;
  EXPECT_NEAR(*pearson(x, y), *pearson(near, y), 1e-12);
}

TEST(PinballLoss, ChargesEachSideItsShare) {
  const std::vector<double> forecast{0, 0};
  const std::vector<double> outcome{10, -10};
  EXPECT_THAT(pinball_losses(forecast, 0.9, outcome),
              ElementsAre(9, testing::DoubleNear(1, 1e-15)));
  EXPECT_THAT(pinball_losses(forecast, 0.5, outcome), ElementsAre(5, 5));
}

TEST(PinballLoss, IsLeastAtTheEmpiricalQuantile) {
  std::vector<double> outcome(101);
  for (std::size_t i = 0; i < 101; ++i) outcome[i] = static_cast<double>(i * i);
  const auto loss = [&](double f) {
    return *mean(pinball_losses(std::vector<double>(outcome.size(), f), 0.3, outcome));
  };
  const double best = loss(30 * 30);
  for (int i = 0; i < 101; ++i) EXPECT_GE(loss(i * i), best) << i;
}

TEST(Covered, CountsOutcomesAtOrBelowTheForecast) {
  EXPECT_THAT(covered(std::vector<double>{1, 1, 1}, std::vector<double>{0, 1, 2}),
              ElementsAre(1, 1, 0));
}

}  // namespace
}  // namespace foxhunt::evaluation
