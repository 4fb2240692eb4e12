#include "foxhunt/evaluation/metrics/classification.h"

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
using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class E>
std::string message_of(RowMatrix p, const std::vector<int>& truth) {
  try {
    check_probabilities(p, truth);
  } catch (const E& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CheckProbabilities, NamesTheRowAndTheRuleThatItBreaks) {
  const std::vector<double> good{0.2, 0.8, 0.5, 0.5};
  EXPECT_NO_THROW(check_probabilities({good, 2}, std::vector{0, 1}));
  EXPECT_THAT(message_of<DataError>({good, 2}, {0, 2}),
              HasSubstr("row 1: true class 2 is outside 0 .. 1"));
  EXPECT_THAT(message_of<DataError>({good, 2}, {-1, 0}), HasSubstr("row 0: true class -1"));
  EXPECT_THAT(message_of<ShapeError>({good, 2}, {0}),
              HasSubstr("4 probabilities in rows of 2 for 1 true"));
  EXPECT_THAT(message_of<ShapeError>({good, 1}, {0, 0, 0, 0}), HasSubstr("K >= 2"));
  EXPECT_THAT(message_of<ShapeError>({good, 0}, {0}), HasSubstr("[N, K]"));
  const std::vector<double> sum{0.2, 0.8, 0.5, 0.6};
  EXPECT_THAT(message_of<DataError>({sum, 2}, {0, 1}),
              HasSubstr("row 1: the probabilities sum to 1.1"));
  const std::vector<double> nan{0.2, 0.8, kNaN, 0.5};
  EXPECT_THAT(message_of<DataError>({nan, 2}, {0, 1}), HasSubstr("row 1: probability nan"));
  const std::vector<double> negative{-0.5, 1.5};
  EXPECT_THAT(message_of<DataError>({negative, 2}, {0}),
              HasSubstr("probability -0.5 is outside [0, 1]"));
}

TEST(PredictedClasses, TakeTheFirstOfEquals) {
  const std::vector<double> p{0.4, 0.4, 0.2, 0.3, 0.35, 0.35, 0.1, 0.2, 0.7};
  EXPECT_THAT(predicted_classes({p, 3}), ElementsAre(0, 1, 2));
}

TEST(LogLosses, OfACertainAndWrongRowAreThoseOfTheFloor) {
  const std::vector<double> p{1, 0, 1, 0};
  const auto losses = log_losses({p, 2}, std::vector{1, 0});
  EXPECT_DOUBLE_EQ(losses[0], 52 * std::log(2.0));
  EXPECT_NEAR(losses[1], 0x1p-52, 1e-30);
}

TEST(BrierLosses, RunFromNothingToTwo) {
  const std::vector<double> p{1, 0, 0, 0, 1, 0, 0.5, 0.3, 0.2};
  const auto losses = brier_losses({p, 3}, std::vector{0, 2, 0});
  EXPECT_EQ(losses[0], 0);
  EXPECT_EQ(losses[1], 2);
  EXPECT_NEAR(losses[2], 0.25 + 0.09 + 0.04, 1e-15);  // rounding of the squares
}

TEST(Confusion, OfNothingIsUndefinedEverywhereAndSaysWhy) {
  const Confusion c = confusion(2, {}, {});
  EXPECT_STREQ(c.accuracy().reason(), "no rows");
  EXPECT_STREQ(c.macro_f1().reason(), "no rows");
  EXPECT_STREQ(c.balanced_accuracy().reason(), "no rows");
  EXPECT_STREQ(c.mcc().reason(), "no rows");
  EXPECT_STREQ(c.recall(0).reason(), "the class never occurred");
  EXPECT_STREQ(c.precision(1).reason(), "the class was never predicted");
  EXPECT_FALSE(c.f1(0).defined());
  EXPECT_FALSE(mean({}).defined());
}

TEST(Confusion, OfOneClassHasAnAccuracyButNoCorrelation) {
  const Confusion c = confusion(3, std::vector{1, 1, 1}, std::vector{1, 1, 0});
  EXPECT_DOUBLE_EQ(*c.accuracy(), 2.0 / 3);
  EXPECT_STREQ(c.mcc().reason(), "only one class occurred");
  EXPECT_DOUBLE_EQ(*c.balanced_accuracy(), 2.0 / 3);
  EXPECT_EQ(*c.f1(0), 0);           // predicted, never right
  EXPECT_FALSE(c.f1(2).defined());  // neither occurred nor predicted
  EXPECT_DOUBLE_EQ(*c.macro_f1(), (0 + 0.8) / 2);
}

TEST(Confusion, OfASingleRowIsRightOrWrong) {
  EXPECT_EQ(*confusion(2, std::vector{1}, std::vector{1}).accuracy(), 1);
  EXPECT_EQ(*confusion(2, std::vector{1}, std::vector{0}).accuracy(), 0);
  EXPECT_FALSE(confusion(2, std::vector{1}, std::vector{1}).mcc().defined());
}

TEST(Confusion, CorrelationOfTwoClassesIsTheTextbookFormula) {
  Confusion c(2);
  c.add(1, 1, 6);  // TP
  c.add(0, 0, 3);  // TN
  c.add(0, 1, 1);  // FP
  c.add(1, 0, 2);  // FN
  EXPECT_NEAR(*c.mcc(), (6.0 * 3 - 1 * 2) / std::sqrt(7.0 * 8 * 4 * 5), 1e-15);
  EXPECT_EQ(c.total(), 12);
}

TEST(Value, IsUndefinedRatherThanNotFinite) {
  EXPECT_STREQ(Value::of(kNaN).reason(), "not finite");
  EXPECT_STREQ(Value::of(INFINITY).reason(), "not finite");
  EXPECT_THROW(Value::of(kNaN).number(), std::logic_error);
  EXPECT_STREQ(Value().reason(), "not computed");
  EXPECT_EQ(Value::of(kNaN).or_else(7), 7);
  EXPECT_EQ(*Value::of(0), 0);
}

}  // namespace
}  // namespace foxhunt::evaluation
