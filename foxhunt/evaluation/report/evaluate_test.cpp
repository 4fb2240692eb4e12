#include "foxhunt/evaluation/report/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/evaluation/metrics/classification.h"
#include "foxhunt/evaluation/metrics/ranks.h"
#include "foxhunt/evaluation/metrics/regression.h"
#include "foxhunt/evaluation/report/simulated_market.h"

namespace foxhunt::evaluation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Comparison& comparison(const EvaluationReport& report, const std::string& metric) {
  for (const Comparison& c : report.comparisons) {
    if (c.metric.name == metric) return c;
  }
  throw std::out_of_range(metric);
}

EvaluationOptions quick() { return {.resamples = 300, .blocks = FixedBlocks{5}}; }

class EvaluateClasses : public testing::Test {
 protected:
  EvaluationReport report(const Forecasts& model, const Baselines& baselines,
                          const EvaluationOptions& options = quick()) const {
    return evaluate(market_.rows, ClassificationTask{}, model, baselines, options, Rng(1));
  }
  SimulatedMarket market_{2000, 200, 1};
  Forecasts informed_ = SimulatedMarket::knowing("model", market_.signal);
  Forecasts prior_ = market_.knowing_nothing("prior");
};

TEST_F(EvaluateClasses, FindsAPlantedEdge) {
  const EvaluationReport r = report(informed_, {{prior_}, {}});
  EXPECT_EQ(r.verdict.edge, Edge::kShown);
  EXPECT_THAT(r.verdict.lines[0], HasSubstr("The model shows an edge: log_loss"));
  EXPECT_EQ(comparison(r, "log_loss").winner, Winner::kModel);
  EXPECT_LT(*comparison(r, "log_loss").interval.hi, 0);
  EXPECT_GT(*r.model.find("rank_ic")->interval.lo, 0);
}

TEST_F(EvaluateClasses, FindsNoneInForecastsOfOtherRows) {
  Rng rng(2);
  std::vector<double> shuffled = market_.signal;
  rng.shuffle(shuffled);
  const EvaluationReport confident =
      report(SimulatedMarket::knowing("model", shuffled), {{prior_}, {}});
  EXPECT_EQ(confident.verdict.edge, Edge::kWorse);
  EXPECT_THAT(confident.verdict.lines[0], HasSubstr("No edge, the model is worse"));

  for (double& s : shuffled) s *= 0.1;  // shy: hardly worse than the prior
  const EvaluationReport shy = report(SimulatedMarket::knowing("model", shuffled), {{prior_}, {}});
  EXPECT_EQ(shy.verdict.edge, Edge::kNone);
  EXPECT_THAT(shy.verdict.lines[0], HasSubstr("shows no edge"));
  EXPECT_THAT(shy.verdict.lines[0], HasSubstr("which includes zero"));
}

TEST_F(EvaluateClasses, JudgesAgainstTheBestBaselineOfEachMetric) {
  const Forecasts better = SimulatedMarket::knowing("better", market_.other);
  std::vector<double> both = market_.other;
  for (std::size_t i = 0; i < both.size(); ++i) both[i] += market_.signal[i];
  const Forecasts best = SimulatedMarket::knowing("best", both);
  const EvaluationReport r = report(informed_, {{prior_, best, better}, {}});
  EXPECT_EQ(comparison(r, "log_loss").baseline, "best");
  EXPECT_EQ(comparison(r, "rank_ic").baseline, "best");
  EXPECT_EQ(r.verdict.edge, Edge::kWorse);
  EXPECT_EQ(r.by_session.baseline, "best");
  EXPECT_GT(*comparison(r, "log_loss").interval.lo, 0);
  EXPECT_LT(*comparison(r, "rank_ic").interval.hi, 0);
}

TEST_F(EvaluateClasses, AgainstItselfDiffersByExactlyNothing) {
  Forecasts twin = informed_;
  twin.name = "twin";
  const EvaluationReport r = report(informed_, {{twin}, {}});
  for (const Comparison& c : r.comparisons) {
    EXPECT_EQ(*c.difference, 0) << c.metric.name;
    EXPECT_EQ(*c.interval.lo, 0) << c.metric.name;
    EXPECT_EQ(*c.interval.hi, 0) << c.metric.name;
    EXPECT_EQ(c.winner, Winner::kNeither) << c.metric.name;
  }
  EXPECT_EQ(r.verdict.edge, Edge::kNone);
}

TEST_F(EvaluateClasses, ReportsTheMetricsThemselves) {
  const EvaluationReport r = report(informed_, {{prior_}, {}});
  const RowMatrix p{informed_.values, 3};
  const Confusion c = confusion(3, market_.rows.labels, predicted_classes(p));
  EXPECT_EQ(*r.model.find("log_loss")->value, *mean(log_losses(p, market_.rows.labels)));
  EXPECT_EQ(*r.model.find("brier")->value, *mean(brier_losses(p, market_.rows.labels)));
  EXPECT_EQ(*r.model.find("mcc")->value, *c.mcc());
  EXPECT_EQ(*r.model.find("macro_f1")->value, *c.macro_f1());
  EXPECT_EQ(*r.model.find("f1_up")->value, *c.f1(2));
  std::vector<double> score;
  for (std::size_t i = 0; i < p.rows(); ++i) score.push_back(p.at(i, 2) - p.at(i, 0));
  EXPECT_EQ(*r.model.find("rank_ic")->value,
            *spearman(Ordering(score), Ordering(market_.rows.outcomes)));
  for (const MetricResult& m : r.model.metrics) {
    if (m.metric.name == "ece")
      continue;  // its resamples are biased upwards: bins are noisier there
    EXPECT_TRUE(m.interval.contains(*m.value)) << m.metric.name;
  }
  EXPECT_EQ(r.confusion.total(), 2000);
  // A constant has no rank correlation and no precision of classes that it never predicts.
  EXPECT_STREQ(r.baselines[0].find("rank_ic")->value.reason(), "the forecast does not vary");
  EXPECT_STREQ(r.baselines[0].find("rank_ic")->interval.lo.reason(), "the forecast does not vary");
  EXPECT_EQ(*r.baselines[0].find("auc")->value, 0.5);
  EXPECT_TRUE(comparison(r, "rank_ic").baseline.empty());
}

TEST_F(EvaluateClasses, BreaksDownBySessionAndHour) {
  const EvaluationReport r = report(informed_, {{prior_}, {}});
  ASSERT_EQ(r.by_session.groups.size(), 10U);
  EXPECT_EQ(r.by_session.groups[1].key, "2024-03-05");
  EXPECT_EQ(r.by_session.groups[1].rows, 200U);
  std::vector<std::size_t> second;
  for (std::size_t i = 200; i < 400; ++i) second.push_back(i);
  const std::vector<double> part(informed_.values.begin() + 600, informed_.values.begin() + 1200);
  const EvaluationRows day = market_.rows.subset(second);
  EXPECT_EQ(*r.by_session.groups[1].model[0], *mean(log_losses({part, 3}, day.labels)));
  EXPECT_EQ(*r.by_session.groups[1].model[1],
            *confusion(3, day.labels, predicted_classes({part, 3})).accuracy());
  const std::vector<double> constant(prior_.values.begin(), prior_.values.begin() + 600);
  EXPECT_EQ(*r.by_session.groups[1].baseline_loss, *mean(log_losses({constant, 3}, day.labels)));
  EXPECT_EQ(r.by_session.baseline, "prior");

  // 200 minutes from 14:00: three full hours and twenty minutes of 17:00, on ten days.
  EXPECT_EQ(r.by_hour.by, "UTC hour");
  ASSERT_EQ(r.by_hour.groups.size(), 4U);
  EXPECT_EQ(r.by_hour.groups[0].key, "14");
  EXPECT_EQ(r.by_hour.groups[0].rows, 600U);
  EXPECT_EQ(r.by_hour.groups[3].key, "17");
  EXPECT_EQ(r.by_hour.groups[3].rows, 200U);
}

TEST_F(EvaluateClasses, TakesHoursOfAnotherMeaning) {
  market_.rows.hours.assign(2000, 7);
  market_.rows.hours[5] = 2;
  market_.rows.hour_name = "hours since open";
  const EvaluationReport r = report(informed_, {{prior_}, {}});
  EXPECT_EQ(r.by_hour.by, "hours since open");
  ASSERT_EQ(r.by_hour.groups.size(), 2U);
  EXPECT_EQ(r.by_hour.groups[0].key, "02");
  EXPECT_EQ(r.by_hour.groups[0].rows, 1U);
  EXPECT_FALSE(r.by_hour.groups[0].model[2].defined());  // the correlation of one row
}

TEST_F(EvaluateClasses, CalibratesWithIntervalsThatHoldWhatWasSaid) {
  const EvaluationReport r = report(informed_, {{prior_}, {}});
  ASSERT_EQ(r.calibration.size(), 3U);
  int held = 0;
  for (const ClassCalibration& c : r.calibration) {
    ASSERT_EQ(c.bins.size(), 10U);
    for (const CalibrationBin& bin : c.bins) {
      EXPECT_EQ(bin.rows, 200);
      held += bin.interval.contains(*bin.predicted) ? 1 : 0;
    }
  }
  // The probabilities are the true ones: 30 intervals at 95 % hold 28.5 on average; 25 is three
  // deviations below.
  EXPECT_GE(held, 25);
}

TEST_F(EvaluateClasses, GivesTheSameReportForTheSameSeedOnly) {
  const auto run = [&](std::uint64_t seed) {
    return to_json(evaluate(market_.rows, ClassificationTask{}, informed_, {{prior_}, {}}, quick(),
                            Rng(seed)));
  };
  EXPECT_EQ(run(3), run(3));
  EXPECT_NE(run(3), run(4));
}

TEST_F(EvaluateClasses, KeepsTogetherWhatOneLabelSpans) {
  EvaluationOptions options = quick();
  options.blocks = AutomaticBlocks{.horizon_rows = 30};
  const EvaluationReport long_labels = report(informed_, {{prior_}, {}}, options);
  EXPECT_EQ(long_labels.block_rows, 30U);
  EXPECT_THAT(long_labels.blocks, HasSubstr("circular blocks of 30 rows (automatic)"));
  options.blocks = AutomaticBlocks{};
  EXPECT_GE(report(informed_, {{prior_}, {}}, options).block_rows,
            13U);  // the cube root of 2000, rounded up

  // 2000 rows hold six blocks of 300: too few to say anything, and it is said.
  options.blocks = AutomaticBlocks{.horizon_rows = 300};
  const EvaluationReport none = report(informed_, {{prior_}, {}}, options);
  EXPECT_EQ(none.verdict.edge, Edge::kUnknown);
  EXPECT_THAT(none.verdict.lines[0], HasSubstr("too few blocks of rows for an interval"));
}

TEST_F(EvaluateClasses, ShortensBlocksThatTheRowsCannotHoldAndSaysSo) {
  // Losses in two long regimes: their autocorrelation asks for blocks longer than an eighth of the
  // rows.
  SimulatedMarket small(60, 200, 4);
  Forecasts model = small.knowing_nothing("model");
  for (std::size_t i = 0; i < 60; ++i) small.rows.labels[i] = i < 30 ? 1 : 0;
  const EvaluationReport r =
      evaluate(small.rows, ClassificationTask{}, model, {{small.knowing_nothing("prior")}, {}},
               {.resamples = 50}, Rng(1));
  EXPECT_EQ(r.block_rows, 60 / kLeastBlocks);
  ASSERT_FALSE(r.notes.empty());
  EXPECT_THAT(r.notes.back(), HasSubstr("only 7 leave 8 blocks"));
}

TEST_F(EvaluateClasses, DrawsWholeSessionsWhenAsked) {
  EvaluationOptions options = quick();
  options.blocks = SessionBlocks{};
  const EvaluationReport r = report(informed_, {{prior_}, {}}, options);
  EXPECT_EQ(r.blocks, "10 whole sessions");
  EXPECT_EQ(r.block_rows, 0U);
  EXPECT_TRUE(r.model.find("log_loss")->interval.defined());
}

TEST_F(EvaluateClasses, SaysThatNothingWasThereToCompareWith) {
  const EvaluationReport r = report(informed_, {});
  EXPECT_EQ(r.verdict.edge, Edge::kUnknown);
  EXPECT_THAT(r.verdict.lines[0], HasSubstr("there is no baseline"));
  EXPECT_FALSE(to_text(r).empty());
}

TEST(Evaluate, OfOneRowOrOneClassHasReasonsAndNoCrash) {
  SimulatedMarket one(1, 1, 5);
  const auto report = [](const SimulatedMarket& m) {
    return evaluate(m.rows, ClassificationTask{}, m.knowing_nothing("model"),
                    {{m.knowing_nothing("prior")}, {}}, {.resamples = 50}, Rng(1));
  };
  const EvaluationReport single = report(one);
  EXPECT_EQ(single.verdict.edge, Edge::kUnknown);
  EXPECT_TRUE(single.model.find("log_loss")->value.defined());
  EXPECT_STREQ(single.model.find("mcc")->value.reason(), "only one class occurred");

  SimulatedMarket flat(200, 50, 6);
  std::fill(flat.rows.labels.begin(), flat.rows.labels.end(), 1);
  const EvaluationReport r = report(flat);
  EXPECT_STREQ(r.model.find("auc")->value.reason(), "a class did not occur, or no other");
  EXPECT_FALSE(to_json(r).empty());
  EXPECT_FALSE(to_text(r).empty());
}

TEST(Evaluate, OfNumbersKnowsTheTrainingMeanAndTheEdge) {
  const SimulatedMarket m(2000, 200, 7);
  const RegressionTask task{.train_mean = 0.05};
  const Forecasts mean{"mean", std::vector<double>(2000, 0.05)};
  const EvaluationReport r =
      evaluate(m.rows, task, {"model", m.signal}, {{mean}, {}}, quick(), Rng(1));
  EXPECT_EQ(r.verdict.edge, Edge::kShown);
  EXPECT_EQ(*r.baselines[0].find("r2")->value, 0);
  // The signal carries 0.09 of 1.18; three standard errors of an R^2 that small over 2,000 rows are
  // 0.03.
  EXPECT_NEAR(*r.model.find("r2")->value, 0.09 / 1.18, 0.03);
  EXPECT_EQ(*r.model.find("r2")->value, *r2_out_of_sample(m.signal, m.rows.outcomes, 0.05));
  EXPECT_THAT(r.by_hour.metrics, ElementsAre("rmse", "r2", "rank_ic"));
  EXPECT_TRUE(r.calibration.empty());
}

TEST(Evaluate, OfQuantilesCoversEachLevel) {
  const SimulatedMarket m(2000, 200, 8);
  const QuantileTask task{.levels = {0.1, 0.5, 0.9}};
  Forecasts model{"model", {}};
  Forecasts constant{"mean", {}};
  for (const double s : m.signal) {
    const double spread = 1.2815515655 * std::sqrt(1.09);
    model.values.insert(model.values.end(), {s - spread, s, s + spread});
    constant.values.insert(constant.values.end(), {-1.39, 0, 1.39});
  }
  const EvaluationReport r = evaluate(m.rows, task, model, {{constant}, {}}, quick(), Rng(1));
  EXPECT_EQ(r.verdict.edge, Edge::kShown);
  for (const char* level : {"0.1", "0.5", "0.9"}) {
    EXPECT_TRUE(r.model.find(std::string("coverage_") + level)->interval.contains(std::stod(level)))
        << level;
  }
  EXPECT_GT(*r.model.find("rank_ic")->value, 0.1);
  EXPECT_EQ(r.model.find("pinball_0.9")->metric.better, Better::kLower);
}

template <class E>
std::string refusal(const EvaluationRows& rows, const Task& task, const Forecasts& model,
                    const Baselines& b = {}) {
  try {
    evaluate(rows, task, model, b, quick(), Rng(1));
  } catch (const E& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Evaluate, NamesWhatItCannotUse) {
  const SimulatedMarket m(50, 10, 9);
  const Forecasts good = m.knowing_nothing("model");
  const ClassificationTask task;
  EXPECT_THAT(refusal<DataError>({}, task, {"model", {}}),
              HasSubstr("there is no row to evaluate"));
  EXPECT_THAT(refusal<ShapeError>(m.rows, task, {"model", {0.5}}),
              HasSubstr("model has 1 values, but the 50 rows"));
  EXPECT_THAT(refusal<ShapeError>(m.rows, task, good, {{good}, {}}),
              HasSubstr("'model' is empty or there twice"));
  Forecasts nan = good;
  nan.values[7] = std::nan("");
  EXPECT_THAT(refusal<DataError>(m.rows, task, good, {{{"gru", nan.values}}, {}}),
              HasSubstr("row 2: probability nan is outside [0, 1], in the forecasts of gru"));

  EvaluationRows rows = m.rows;
  std::swap(rows.times[3], rows.times[4]);
  EXPECT_THAT(refusal<DataError>(rows, task, good),
              HasSubstr("row 4: its time 2024-03-04T14:03:00Z"));
  rows = m.rows;
  rows.labels[9] = 3;
  EXPECT_THAT(refusal<DataError>(rows, task, good), HasSubstr("row 9: true class 3"));
  rows = m.rows;
  rows.outcomes[1] = INFINITY;
  EXPECT_THAT(refusal<DataError>(rows, task, good), HasSubstr("row 1: outcome inf"));
  rows = m.rows;
  rows.hours.assign(3, 1);
  EXPECT_THAT(refusal<ShapeError>(rows, task, good), HasSubstr("3 hours for 50 rows"));
  rows = m.rows;
  std::swap(rows.sessions.front(), rows.sessions.back());
  EXPECT_THAT(refusal<DataError>(rows, task, good),
              HasSubstr("row 1: its session 2024-03-04 is before"));
  EXPECT_THAT(refusal<ShapeError>(
                  m.rows, ClassificationTask{.class_names = {"a", "a"}, .down = 0, .up = 1}, good),
              HasSubstr("class name 'a'"));
  EXPECT_THAT(refusal<ShapeError>(
                  m.rows, ClassificationTask{.class_names = {"a", "b"}, .down = 0, .up = 2}, good),
              HasSubstr("must be two of 0 .. 1"));
  EXPECT_THAT(refusal<ShapeError>(m.rows, QuantileTask{{0.5, 0.5}}, good),
              HasSubstr("quantile level 0.5"));
}

TEST(Evaluate, LongClaimsAnEdgeWhereNoneIsInAboutOneRunOfForty) {
  // Model and baseline know halves of equal worth: the expected losses are equal, and an interval
  // at 95 % lies on the model's side in 2.5 % of the runs. Three deviations of 400 runs are 2.3 %.
  int claimed = 0;
  const int runs = 400;
  for (int run = 0; run < runs; ++run) {
    const SimulatedMarket m(600, 100, static_cast<std::uint64_t>(run) + 100);
    const EvaluationReport r =
        evaluate(m.rows, ClassificationTask{}, SimulatedMarket::knowing("model", m.signal),
                 {{SimulatedMarket::knowing("baseline", m.other)}, {}}, {.resamples = 200}, Rng(1));
    claimed += r.verdict.edge == Edge::kShown ? 1 : 0;
  }
  EXPECT_LE(claimed, runs * 48 / 1000);
  EXPECT_GE(claimed, 1);
}

}  // namespace
}  // namespace foxhunt::evaluation
