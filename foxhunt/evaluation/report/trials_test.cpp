#include "foxhunt/evaluation/report/trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "foxhunt/base/json.h"
#include "foxhunt/evaluation/report/evaluate.h"
#include "foxhunt/evaluation/report/simulated_market.h"

namespace foxhunt::evaluation {
namespace {

using testing::HasSubstr;
using testing::Not;

struct TrialsOfAReport : testing::Test {
  SimulatedMarket market{2000, 200, 1};
  EvaluationReport report =
      evaluate(market.rows, ClassificationTask{}, SimulatedMarket::knowing("model", market.signal),
               {{market.knowing_nothing("prior")}, {}},
               {.resamples = 300, .blocks = FixedBlocks{5}}, Rng(1));
};

TEST_F(TrialsOfAReport, OneLookLeavesTheGainAndSaysNothingMore) {
  const std::size_t lines = report.verdict.lines.size();
  set_trials(report, 1, 0, "abc");
  const Deflated& d = report.trials.deflated.front().result;
  EXPECT_EQ(report.trials.deflated.front().metric, "log_loss");
  EXPECT_EQ(report.trials.deflated.front().baseline, "prior");
  EXPECT_EQ(*d.gain, -*report.comparisons.front().difference);
  EXPECT_EQ(*d.deflated, *d.gain);
  EXPECT_GT(*d.probability, 0.999) << "the planted edge";
  EXPECT_EQ(report.verdict.lines.size(), lines);
}

TEST_F(TrialsOfAReport, ManyLooksAreTakenOffInStandardErrors) {
  set_trials(report, 1000, 2, "abc");
  ASSERT_EQ(report.trials.deflated.size(), 2U);
  for (const DeflatedMetric& m : report.trials.deflated) {
    EXPECT_NEAR(*m.result.gain - *m.result.deflated, *m.result.standard_error * expected_best(1000),
                1e-12)
        << m.metric;
  }
  EXPECT_EQ(report.trials.deflated[1].metric, "rank_ic");
  EXPECT_EQ(*report.trials.deflated[1].result.gain, *report.model.find("rank_ic")->value);
  EXPECT_THAT(report.verdict.lines.back(), HasSubstr("1,000 sets of weights have been tried"));
}

// Percentiles and deviation of the same resamples: for an estimate that is nearly normal the
// interval is about 2 x 1.96 standard errors wide. 15 %: 300 resamples know a tail to about 10 %.
TEST_F(TrialsOfAReport, TheStandardErrorFitsTheInterval) {
  for (const Comparison& c : report.comparisons) {
    if (!c.interval.defined()) continue;  // no baseline has a rank IC
    EXPECT_NEAR((*c.interval.hi - *c.interval.lo) / (2 * 1.96 * *c.standard_error), 1.0, 0.15)
        << c.metric.name;
  }
}

TEST_F(TrialsOfAReport, ReportsShowThemInJsonAndText) {
  auto json = nlohmann::json::parse(to_json(report));
  EXPECT_TRUE(json["trials"]["count"].is_null());
  EXPECT_THAT(json["trials"]["reason"].get<std::string>(), HasSubstr("not counted"));
  EXPECT_THAT(to_text(report), HasSubstr("Not counted"));

  report.trials.not_counted = "the disk is full";
  EXPECT_THAT(to_text(report), HasSubstr("Not counted: the disk is full."));

  set_trials(report, 12, 3, "abc");
  json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["trials"]["count"], 12);
  EXPECT_EQ(json["trials"]["related"], 3);
  EXPECT_EQ(json["deflated"]["log_loss"]["deflated"],
            *report.trials.deflated.front().result.deflated);
  EXPECT_THAT(to_text(report), HasSubstr("12 sets of weights have been tried on these rows"));
  EXPECT_THAT(to_text(report), HasSubstr("3 more in the same time"));
  EXPECT_THAT(to_text(report), HasSubstr("Phi^-1(1-1/N)"));
}

TEST_F(TrialsOfAReport, WithoutABaselineThereIsNoGainToCorrect) {
  EvaluationReport alone =
      evaluate(market.rows, ClassificationTask{}, SimulatedMarket::knowing("model", market.signal),
               {}, {.resamples = 100, .blocks = FixedBlocks{5}}, Rng(1));
  set_trials(alone, 5, 0, "abc");
  const auto json = nlohmann::json::parse(to_json(alone));
  EXPECT_TRUE(json["deflated"]["log_loss"]["probability"].is_null());
  EXPECT_THAT(json["deflated"]["log_loss"]["reason"].get<std::string>(), HasSubstr("no baseline"));
  EXPECT_FALSE(json["deflated"]["rank_ic"]["probability"].is_null());
}

}  // namespace
}  // namespace foxhunt::evaluation
