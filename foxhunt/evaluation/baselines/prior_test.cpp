#include "foxhunt/evaluation/baselines/prior.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt::evaluation {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

TEST(ClassPrior, IsTheShareOfEachClassWithOneRowMoreOfEach) {
  EXPECT_THAT(class_prior(std::vector{2, 2, 0, 2}, 3), ElementsAre(2.0 / 7, 1.0 / 7, 4.0 / 7));
  EXPECT_THAT(class_prior({}, 4), ElementsAre(0.25, 0.25, 0.25, 0.25));
}

TEST(ClassPrior, RefusesLabelsOutsideTheClasses) {
  EXPECT_THROW(class_prior(std::vector{0, 3}, 3), DataError);
  EXPECT_THROW(class_prior(std::vector{-1}, 3), DataError);
  EXPECT_THROW(class_prior({}, 1), ShapeError);
}

TEST(OutcomeQuantiles, LieLinearlyBetweenNeighbours) {
  const std::vector<double> outcomes{30, 10, 20, 0};
  EXPECT_THAT(outcome_quantiles(outcomes, std::vector{0.5, 0.1, 0.9}),
              ElementsAre(15, DoubleEq(3), DoubleEq(27)));
  EXPECT_THAT(outcome_quantiles(std::vector{7.0}, std::vector{0.1, 0.9}), ElementsAre(7, 7));
  EXPECT_THROW(outcome_quantiles(outcomes, std::vector{1.0}), ShapeError);
  EXPECT_THROW(outcome_quantiles({}, std::vector{0.5}), DataError);
}

TEST(MeanOutcome, RefusesNothingAndNaN) {
  EXPECT_EQ(mean_outcome(std::vector{1.0, 2.0, 6.0}), 3);
  EXPECT_THROW(mean_outcome({}), DataError);
  try {
    mean_outcome(std::vector{1.0, std::numeric_limits<double>::quiet_NaN()});
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "[baselines] training row 1: outcome nan is not finite");
  }
}

TEST(RowsOfForecasts, AreRepeatedAndShifted) {
  EXPECT_THAT(repeat(std::vector{1.0, 2.0}, 2), ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(repeat(std::vector{1.0, 2.0}, 0), ElementsAre());
  EXPECT_THAT(around(std::vector{10.0, 20.0}, std::vector{-1.0, 3.0}), ElementsAre(9, 13, 19, 23));
}

}  // namespace
}  // namespace foxhunt::evaluation
