// Metrics of a fixed sample against scikit-learn and scipy: tests/golden/stats (README.md there).
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "foxhunt/base/json.h"
#include "foxhunt/evaluation/metrics/classification.h"
#include "foxhunt/evaluation/metrics/ranks.h"
#include "foxhunt/evaluation/metrics/regression.h"

namespace foxhunt::evaluation {
namespace {

/// Both sides sum a thousand doubles in different orders.
constexpr double kTolerance = 1e-12;

class GoldenMetrics : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream json("tests/golden/stats/metrics_expected.json");
    ASSERT_TRUE(json) << "run from the root of the repository";
    expected_ = nlohmann::json::parse(json);
    std::ifstream table("tests/golden/stats/metrics_sample.tsv");
    ASSERT_TRUE(table);
    std::string line;
    std::getline(table, line);
    ASSERT_EQ(line, "y3\tp0_ppm\tp1_ppm\tp2_ppm\ty2\tscore_pct\tforecast_x100\treturn_x100000");
    while (std::getline(table, line)) {
      std::istringstream fields(line);
      int y = 0;
      double p[3];
      int positive = 0;
      double score = 0;
      double forecast = 0;
      double outcome = 0;
      ASSERT_TRUE(fields >> y >> p[0] >> p[1] >> p[2] >> positive >> score >> forecast >> outcome)
          << line;
      y3_.push_back(y);
      for (const double ppm : p) p3_.push_back(ppm / 1e6);
      y2_.push_back(positive);
      positive_.push_back(static_cast<std::uint8_t>(positive));
      score_.push_back(score / 100);
      p2_.push_back(1 - score / 100);
      p2_.push_back(score / 100);
      forecast_.push_back(forecast);
      return_.push_back(outcome);
    }
    ASSERT_EQ(y3_.size(), 1000U);
  }
  double expected(const char* key) const { return expected_.at(key).get<double>(); }
  RowMatrix p3() const { return {p3_, 3}; }

  nlohmann::json expected_;
  std::vector<int> y3_;
  std::vector<int> y2_;
  std::vector<std::uint8_t> positive_;
  std::vector<double> p3_;
  std::vector<double> p2_;
  std::vector<double> score_;
  std::vector<double> forecast_;
  std::vector<double> return_;
};

TEST_F(GoldenMetrics, ConfusionAndWhatFollowsFromItMatch) {
  check_probabilities(p3(), y3_);
  const Confusion c = confusion(3, y3_, predicted_classes(p3()));
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(c.at(i, j), expected_["confusion"][i][j].get<double>()) << i << ' ' << j;
    }
    EXPECT_NEAR(*c.precision(i), expected_["precision"][i].get<double>(), kTolerance);
    EXPECT_NEAR(*c.recall(i), expected_["recall"][i].get<double>(), kTolerance);
    EXPECT_NEAR(*c.f1(i), expected_["f1"][i].get<double>(), kTolerance);
  }
  EXPECT_NEAR(*c.accuracy(), expected("accuracy"), kTolerance);
  EXPECT_NEAR(*c.balanced_accuracy(), expected("balanced_accuracy"), kTolerance);
  EXPECT_NEAR(*c.macro_f1(), expected("macro_f1"), kTolerance);
  EXPECT_NEAR(*c.mcc(), expected("mcc"), kTolerance);
}

TEST_F(GoldenMetrics, LossesOfThreeClassesMatchAlsoWhereAProbabilityIsZeroOrOne) {
  EXPECT_NEAR(*mean(log_losses(p3(), y3_)), expected("log_loss3"), kTolerance);
  EXPECT_NEAR(*mean(brier_losses(p3(), y3_)), expected("brier3"), kTolerance);
}

TEST_F(GoldenMetrics, AreaUnderTheCurveOfOneClassAgainstTheRestMatches) {
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<double> score;
    std::vector<std::uint8_t> positive;
    for (std::size_t i = 0; i < y3_.size(); ++i) {
      score.push_back(p3().at(i, k));
      positive.push_back(y3_[i] == static_cast<int>(k) ? 1 : 0);
    }
    sum += *auc(Ordering(score), positive);
  }
  EXPECT_NEAR(sum / 3, expected("auc3_ovr_macro"), kTolerance);
}

TEST_F(GoldenMetrics, TwoClassMetricsMatch) {
  std::vector<int> predicted;
  for (const double s : score_) predicted.push_back(s >= 0.5 ? 1 : 0);
  const Confusion c = confusion(2, y2_, predicted);
  const auto& at_half = expected_["binary_at_half"];
  EXPECT_NEAR(*c.f1(1), at_half["f1"].get<double>(), kTolerance);
  EXPECT_NEAR(*c.mcc(), at_half["mcc"].get<double>(), kTolerance);
  EXPECT_NEAR(*c.accuracy(), at_half["accuracy"].get<double>(), kTolerance);

  EXPECT_NEAR(*mean(brier_losses({p2_, 2}, y2_)) / 2, expected("brier2"), kTolerance);
  EXPECT_NEAR(*auc(Ordering(score_), positive_), expected("auc2"), kTolerance);
  EXPECT_NEAR(*average_precision(Ordering(score_), positive_), expected("average_precision2"),
              kTolerance);

  std::vector<double> clipped;
  for (const double s : score_) {
    const double q = std::min(std::max(s, 0.01), 0.99);
    clipped.push_back(1 - q);
    clipped.push_back(q);
  }
  EXPECT_NEAR(*mean(log_losses({clipped, 2}, y2_)), expected("log_loss2_clip_0.01"), kTolerance);
}

TEST_F(GoldenMetrics, CorrelationsWithTiesMatch) {
  EXPECT_NEAR(*spearman(Ordering(forecast_), Ordering(return_)), expected("spearman_ic"),
              kTolerance);
  EXPECT_NEAR(*pearson(forecast_, return_), expected("pearson_ic"), kTolerance);
  EXPECT_NEAR(*kendall_tau_b(forecast_, return_), expected("kendall_tau_b"), kTolerance);
}

TEST_F(GoldenMetrics, AConstantPredictionScoresAsScikitLearnSays) {
  const Confusion c = confusion(3, y3_, std::vector<int>(y3_.size(), 1));
  EXPECT_NEAR(*c.macro_f1(), expected_["constant_prediction"]["macro_f1"].get<double>(),
              kTolerance);
  EXPECT_EQ(*c.mcc(), expected_["constant_prediction"]["mcc"].get<double>());
}

}  // namespace
}  // namespace foxhunt::evaluation
