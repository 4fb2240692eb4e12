// The rule that the bootstrap stands on: a metric under weights is the metric of the rows repeated
// that often.
#include "foxhunt/evaluation/metrics/weights.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/evaluation/metrics/classification.h"
#include "foxhunt/evaluation/metrics/ranks.h"
#include "foxhunt/evaluation/metrics/regression.h"

namespace foxhunt::evaluation {
namespace {

struct Sample {
  std::vector<int> truth;
  std::vector<int> predicted;
  std::vector<std::uint8_t> positive;
  std::vector<double> forecast;
  std::vector<double> outcome;

  void push(const Sample& from, std::size_t i) {
    truth.push_back(from.truth[i]);
    predicted.push_back(from.predicted[i]);
    positive.push_back(from.positive[i]);
    forecast.push_back(from.forecast[i]);
    outcome.push_back(from.outcome[i]);
  }
};

struct NamedMetric {
  std::string name;
  std::function<Value(const Sample&, Weights)> of;
};

const std::vector<NamedMetric>& metrics() {
  static const std::vector<NamedMetric> all{
      {"accuracy",
       [](const Sample& s, Weights w) { return confusion(3, s.truth, s.predicted, w).accuracy(); }},
      {"macro_f1",
       [](const Sample& s, Weights w) { return confusion(3, s.truth, s.predicted, w).macro_f1(); }},
      {"mcc",
       [](const Sample& s, Weights w) { return confusion(3, s.truth, s.predicted, w).mcc(); }},
      {"mean", [](const Sample& s, Weights w) { return mean(s.outcome, w); }},
      {"spearman",
       [](const Sample& s, Weights w) {
         return spearman(Ordering(s.forecast), Ordering(s.outcome), w);
       }},
      {"auc", [](const Sample& s, Weights w) { return auc(Ordering(s.forecast), s.positive, w); }},
      {"average_precision",
       [](const Sample& s, Weights w) {
         return average_precision(Ordering(s.forecast), s.positive, w);
       }},
      {"rmse",
       [](const Sample& s, Weights w) { return rmse(squared_errors(s.forecast, s.outcome), w); }},
      {"r2",
       [](const Sample& s, Weights w) { return r2_out_of_sample(s.forecast, s.outcome, 0.5, w); }},
      {"pearson", [](const Sample& s, Weights w) { return pearson(s.forecast, s.outcome, w); }},
  };
  return all;
}

class WeightedMetric : public testing::TestWithParam<NamedMetric> {};

TEST_P(WeightedMetric, EqualsTheMetricOfTheRepeatedRows) {
  Rng rng(11);
  for (int round = 0; round < 20; ++round) {
    Sample once;
    Sample repeated;
    std::vector<double> weights;
    for (std::size_t i = 0; i < 30; ++i) {
      once.truth.push_back(static_cast<int>(rng.below(3)));
      once.predicted.push_back(static_cast<int>(rng.below(3)));
      once.positive.push_back(static_cast<std::uint8_t>(rng.below(2)));
      once.forecast.push_back(static_cast<double>(rng.below(10)));  // ties
      once.outcome.push_back(static_cast<double>(rng.below(10)));
      weights.push_back(static_cast<double>(rng.below(4)));
      for (double k = 0; k < weights[i]; ++k) repeated.push(once, i);
    }
    const Value weighted = GetParam().of(once, weights);
    const Value plain = GetParam().of(repeated, {});
    ASSERT_TRUE(weighted.defined());
    ASSERT_TRUE(plain.defined());
    EXPECT_NEAR(*weighted, *plain, 1e-13);  // the order of about 50 additions
    // And no weights are weights of one.
    EXPECT_DOUBLE_EQ(*GetParam().of(once, {}), *GetParam().of(once, std::vector<double>(30, 1.0)));
  }
}

INSTANTIATE_TEST_SUITE_P(Every, WeightedMetric, testing::ValuesIn(metrics()),
                         [](const auto& metric) { return metric.param.name; });

}  // namespace
}  // namespace foxhunt::evaluation
