#include "foxhunt/evaluation/report/scored_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/evaluation/report/evaluate.h"
#include "foxhunt/evaluation/report/report.h"
#include "foxhunt/evaluation/report/simulated_market.h"

namespace foxhunt::evaluation {
namespace {

using testing::HasSubstr;

ScoredRows scored(const SimulatedMarket& market) {
  return {.task = ClassificationTask{},
          .rows = market.rows,
          .model = SimulatedMarket::knowing("model", market.signal),
          .baselines = {.forecasts = {market.knowing_nothing("prior")}, .notes = {"a note"}}};
}

/// Rows [from, to) of it.
ScoredRows cut(const ScoredRows& all, std::size_t from, std::size_t to) {
  std::vector<std::size_t> rows;
  for (std::size_t i = from; i < to; ++i) rows.push_back(i);
  const auto part = [&](const Forecasts& f) {
    return Forecasts{f.name,
                     {f.values.begin() + static_cast<std::ptrdiff_t>(from * 3),
                      f.values.begin() + static_cast<std::ptrdiff_t>(to * 3)}};
  };
  return {.task = all.task,
          .rows = all.rows.subset(rows),
          .model = part(all.model),
          .baselines = {.forecasts = {part(all.baselines.forecasts[0])}, .notes = {}}};
}

std::string report_of(const ScoredRows& s) {
  return to_json(evaluate(s.rows, s.task, s.model, s.baselines,
                          {.resamples = 100, .blocks = FixedBlocks{5}}, Rng(1)));
}

TEST(ScoredRows, ComeBackBitForBit) {
  const ScoredRows before = scored(SimulatedMarket(300, 100, 1));
  const ScoredRows after = parse_scored_rows(to_json_lines(before), "rows");
  EXPECT_EQ(after.model.values, before.model.values);
  EXPECT_EQ(after.baselines.forecasts[0].values, before.baselines.forecasts[0].values);
  EXPECT_EQ(after.rows.outcomes, before.rows.outcomes);
  EXPECT_EQ(report_of(after), report_of(before));
}

TEST(ScoredRows, PartsPooledAreTheWhole) {
  const ScoredRows whole = scored(SimulatedMarket(600, 100, 2));
  ScoredRows again = pooled({cut(whole, 0, 200), cut(whole, 200, 500), cut(whole, 500, 600)});
  again.baselines.notes = whole.baselines.notes;
  EXPECT_EQ(report_of(again), report_of(whole));
}

TEST(ScoredRows, TheMeanOfARegressionIsThatOfItsParts) {
  const auto part = [](double mean, std::size_t rows, const char* day) {
    ScoredRows s{.task = RegressionTask{.train_mean = mean},
                 .rows = {},
                 .model = {"model", {}},
                 .baselines = {}};
    for (std::size_t i = 0; i < rows; ++i) {
      s.rows.times.push_back(parse_time(day) + std::chrono::minutes{i});
      s.rows.sessions.push_back(parse_date(day));
      s.rows.outcomes.push_back(1);
      s.model.values.push_back(0);
    }
    return s;
  };
  const ScoredRows all = pooled({part(1, 10, "2024-03-04"), part(4, 20, "2024-03-05")});
  EXPECT_DOUBLE_EQ(std::get<RegressionTask>(all.task).train_mean, 3.0);
  EXPECT_DOUBLE_EQ(
      std::get<RegressionTask>(parse_scored_rows(to_json_lines(all), "r").task).train_mean, 3.0);
}

TEST(ScoredRows, RefusesPartsThatOverlapOrWereAskedOtherwise) {
  const ScoredRows whole = scored(SimulatedMarket(300, 100, 3));
  EXPECT_THROW(pooled({}), ShapeError);
  EXPECT_THROW(pooled({cut(whole, 0, 200), cut(whole, 150, 300)}), DataError);
  ScoredRows other = cut(whole, 200, 300);
  other.baselines.forecasts[0].name = "another";
  EXPECT_THROW(pooled({cut(whole, 0, 200), other}), ShapeError);
}

TEST(ScoredRows, NamesTheLineThatCannotBeRead) {
  std::string text = to_json_lines(scored(SimulatedMarket(10, 10, 4)));
  text += "{\"t\":";
  try {
    parse_scored_rows(text, "rows.jsonl");
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rows.jsonl:12"));
  }
}

}  // namespace
}  // namespace foxhunt::evaluation
