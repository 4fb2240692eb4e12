#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "foxhunt/base/json.h"
#include "foxhunt/evaluation/report/evaluate.h"
#include "foxhunt/evaluation/report/simulated_market.h"

namespace foxhunt::evaluation {
namespace {

using nlohmann::json;

json report_json() {
  const SimulatedMarket m(400, 100, 1);
  Baselines baselines{{m.knowing_nothing("prior"), SimulatedMarket::knowing("logistic", m.other)},
                      {"a note"}};
  return json::parse(
      to_json(evaluate(m.rows, ClassificationTask{}, SimulatedMarket::knowing("model", m.signal),
                       baselines, {.resamples = 100, .blocks = FixedBlocks{5}}, Rng(1))));
}

TEST(ReportJson, HasTheNamesThatScriptsRelyOn) {
  const json j = report_json();
  EXPECT_EQ(j["rows"], 400);
  for (const char* name : {"log_loss", "accuracy", "macro_f1", "mcc", "brier", "ece", "rank_ic",
                           "f1_down", "f1_flat", "f1_up", "balanced_accuracy", "auc"}) {
    ASSERT_TRUE(j["metrics"].contains(name)) << name;
    for (const char* part : {"value", "lo", "hi"})
      EXPECT_TRUE(j["metrics"][name][part].is_number()) << name << part;
    EXPECT_TRUE(j["baselines"]["logistic"][name].is_number()) << name;
    EXPECT_TRUE(j["baseline_intervals"]["logistic"][name]["lo"].is_number()) << name;
  }
  EXPECT_EQ(j["vs_best_baseline"]["log_loss"]["baseline"], "logistic");
  EXPECT_TRUE(j["vs_best_baseline"]["log_loss"]["difference"].is_number());
  EXPECT_EQ(j["by_session"]["groups"].size(), 4U);
  EXPECT_EQ(j["by_session"]["groups"][0]["key"], "2024-03-04");
  EXPECT_TRUE(j["by_session"]["groups"][0]["metrics"]["log_loss"].is_number());
  EXPECT_EQ(j["by_session"]["groups"][0]["baseline"]["name"], "logistic");
  EXPECT_EQ(j["by_hour"]["by"], "UTC hour");
  EXPECT_EQ(j["confusion"]["counts"].size(), 3U);
  EXPECT_EQ(j["calibration"]["up"]["bins"].size(), 10U);
  EXPECT_TRUE(j["calibration"]["up"]["bins"][0]["lo"].is_number());
  EXPECT_EQ(j["verdict"]["edge"], "none");
  EXPECT_GE(j["verdict"]["text"].size(), 3U);
  EXPECT_EQ(j["notes"][0], "a note");
  EXPECT_EQ(j["intervals"]["resamples"], 100);
  EXPECT_EQ(j["intervals"]["block_rows"], 5);
}

TEST(ReportJson, SaysNullAndWhyWhereThereIsNoNumber) {
  const SimulatedMarket m(100, 100, 2);
  const json j = json::parse(to_json(evaluate(
      m.rows, ClassificationTask{}, m.knowing_nothing("model"), {{m.knowing_nothing("prior")}, {}},
      {.resamples = 50, .blocks = FixedBlocks{20}}, Rng(1))));
  const json& ic = j["metrics"]["rank_ic"];
  EXPECT_TRUE(ic["value"].is_null());
  EXPECT_TRUE(ic["lo"].is_null());
  EXPECT_EQ(ic.value("reason", ""), "the forecast does not vary");
  const json& loss = j["metrics"]["log_loss"];
  EXPECT_TRUE(loss["value"].is_number());
  EXPECT_TRUE(loss["hi"].is_null());
  EXPECT_EQ(loss.value("reason", ""), "too few blocks of rows for an interval");
  EXPECT_TRUE(j["baselines"]["prior"]["rank_ic"].is_null());
  EXPECT_EQ(j["baseline_intervals"]["prior"]["rank_ic"].value("reason", ""),
            "the forecast does not vary");
  EXPECT_TRUE(j["vs_best_baseline"]["rank_ic"]["baseline"].is_null());
  EXPECT_EQ(j["vs_best_baseline"]["rank_ic"].value("reason", ""), "no baseline has a value");
  EXPECT_EQ(j["by_hour"]["groups"][0]["reasons"]["rank_ic"], "the forecast does not vary");
  EXPECT_EQ(j["verdict"]["edge"], "unknown");
}

/// Walks every number of a report.
void expect_no_nan(const json& j) {
  if (j.is_number_float()) {
    EXPECT_TRUE(std::isfinite(j.get<double>()));
  }
  if (j.is_structured()) {
    for (const auto& item : j) expect_no_nan(item);
  }
}

TEST(ReportJson, OfOneRowIsValidJsonWithoutNaN) {
  const SimulatedMarket m(1, 1, 3);
  const std::string text = to_json(evaluate(
      m.rows, ClassificationTask{}, m.knowing_nothing("model"), {}, {.resamples = 10}, Rng(1)));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("nan")));
  expect_no_nan(json::parse(text));
}

TEST(ReportJson, SurvivesNamesThatAreNoUtf8) {
  const SimulatedMarket m(30, 30, 4);
  const EvaluationReport r =
      evaluate(m.rows, ClassificationTask{.class_names = {"d\xff", "f", "u"}},
               m.knowing_nothing("model"), {}, {.resamples = 10}, Rng(1));
  EXPECT_NO_THROW(json::parse(to_json(r)));
}

TEST(ReportJson, OfNumbersAndQuantilesHasTheirNames) {
  const SimulatedMarket m(100, 100, 5);
  const json numbers =
      json::parse(to_json(evaluate(m.rows, RegressionTask{}, {"model", m.signal}, {},
                                   {.resamples = 20, .blocks = FixedBlocks{5}}, Rng(1))));
  for (const char* name : {"rmse", "mae", "r2", "rank_ic", "pearson_ic"}) {
    EXPECT_TRUE(numbers["metrics"][name]["lo"].is_number()) << name;
  }
  EXPECT_FALSE(numbers.contains("confusion"));
  const json quantiles =
      json::parse(to_json(evaluate(m.rows, QuantileTask{{0.5}}, {"model", m.signal}, {},
                                   {.resamples = 20, .blocks = FixedBlocks{5}}, Rng(1))));
  for (const char* name : {"pinball", "pinball_0.5", "coverage_0.5", "rank_ic"}) {
    EXPECT_TRUE(quantiles["metrics"][name]["lo"].is_number()) << name;
  }
}

}  // namespace
}  // namespace foxhunt::evaluation
