#include "foxhunt/evaluation/baselines/standard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/evaluation/metrics/classification.h"
#include "foxhunt/evaluation/metrics/regression.h"

namespace foxhunt::evaluation {
namespace {

using testing::HasSubstr;

/// outcome = 0.5 x0 + 0.3 last + noise; class = its third.
struct Split {
  Split(std::size_t n, std::uint64_t seed) {
    Rng rng(seed);
    double last = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double signal = rng.normal();
      x.push_back(static_cast<float>(signal));
      x.push_back(static_cast<float>(rng.normal()));
      last_moves.push_back(last);
      last_classes.push_back(class_of(last));
      last = 0.5 * signal + 0.3 * last + rng.normal();
      outcomes.push_back(last);
      labels.push_back(class_of(last));
    }
  }
  static int class_of(double y) { return y < -0.5 ? 0 : y > 0.5 ? 2 : 1; }
  BaselineRows rows() const { return {{x, 2}, labels, last_classes, outcomes, last_moves}; }

  std::vector<float> x;
  std::vector<int> labels;
  std::vector<int> last_classes;
  std::vector<double> outcomes;
  std::vector<double> last_moves;
};

class StandardBaselines : public testing::Test {
 protected:
  /// What the test rows hold of the future is hidden from the baselines.
  BaselineSplits splits() const {
    BaselineSplits s{train_.rows(), valid_.rows(), test_.rows()};
    s.test.labels = {};
    s.test.outcomes = {};
    return s;
  }
  Split train_{4000, 1};
  Split valid_{1000, 2};
  Split test_{2000, 3};
};

TEST_F(StandardBaselines, OfClassesImproveWithWhatTheyKnow) {
  const Baselines b = classification_baselines(splits(), 3);
  ASSERT_EQ(b.forecasts.size(), 3U);
  std::vector<double> losses;
  for (const Forecasts& f : b.forecasts) {
    const RowMatrix p{f.values, 3};
    check_probabilities(p, test_.labels);
    losses.push_back(*mean(log_losses(p, test_.labels)));
  }
  EXPECT_EQ(b.forecasts[0].name, "prior");
  EXPECT_EQ(b.forecasts[1].name, "persistence");
  EXPECT_EQ(b.forecasts[2].name, "logistic");
  EXPECT_LT(losses[1], losses[0]);
  EXPECT_LT(losses[2], losses[1]);
  ASSERT_EQ(b.notes.size(), 3U);
  EXPECT_THAT(b.notes[2], HasSubstr("chosen on 1000 validation rows; converged after"));
}

TEST_F(StandardBaselines, OfNumbersImproveWithWhatTheyKnow) {
  const Baselines b = regression_baselines(splits());
  ASSERT_EQ(b.forecasts.size(), 3U);
  std::vector<double> errors;
  for (const Forecasts& f : b.forecasts)
    errors.push_back(*rmse(squared_errors(f.values, test_.outcomes)));
  EXPECT_EQ(b.forecasts[0].name, "mean");
  EXPECT_EQ(b.forecasts[2].name, "ridge");
  EXPECT_LT(errors[1], errors[0]);
  EXPECT_LT(errors[2], errors[1]);
  EXPECT_NEAR(errors[2], std::sqrt(1 + 0.09 * 1.37), 0.05);  // noise and what the last move holds
}

TEST_F(StandardBaselines, OfQuantilesCoverWhatTheySay) {
  const std::vector<double> levels{0.1, 0.5, 0.9};
  const Baselines b = quantile_baselines(splits(), levels);
  for (const Forecasts& f : b.forecasts) {
    for (std::size_t q = 0; q < 3; ++q) {
      std::vector<double> column;
      for (std::size_t i = 0; i < test_.outcomes.size(); ++i) column.push_back(f.values[i * 3 + q]);
      // Four standard errors over 2,000 test and 4,000 training rows.
      EXPECT_NEAR(*mean(covered(column, test_.outcomes)), levels[q], 0.055) << f.name;
    }
  }
}

}  // namespace
}  // namespace foxhunt::evaluation
