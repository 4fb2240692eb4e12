#include "foxhunt/experiments/fold_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "foxhunt/base/error.h"
#include "foxhunt/train/split.h"
#include "foxhunt/train/test_data.h"

namespace foxhunt::experiments {
namespace {

using std::chrono::days;
using std::chrono::minutes;
using testing::HasSubstr;
using train::Part;
using train::Sequence;
using train::WalkForwardConfig;
using train::WalkForwardKind;
using train::WalkForwardUnit;

/// `n` trading days with holes between them, one to three sequences a day, labels `horizon` ahead.
std::vector<Sequence> a_market(Rng& rng, int n, std::int64_t horizon) {
  std::vector<Sequence> sequences;
  auto day = std::chrono::sys_days{parse_date("2024-03-04")};
  for (int d = 0; d < n; ++d) {
    UnixNanos open = UnixNanos{day} + minutes{rng.below(300)};
    for (std::uint64_t s = 0; s <= rng.below(3); ++s) {
      const auto rows = static_cast<std::int64_t>(20 + rng.below(60));
      Sequence sequence = train::test::counted_sequence(open, rows, horizon);
      sequence.trade_date = Date{day};
      open = sequence.available_at.back() + minutes{1 + rng.below(90)};
      sequences.push_back(std::move(sequence));
    }
    day += days{1 + rng.below(4)};
  }
  return sequences;
}

TEST(FoldPlan, DaysBeginWithTheirFirstRowAndEndBehindTheLast) {
  Rng rng(1);
  const std::vector<Sequence> market = a_market(rng, 7, 5);
  const std::vector<UnixNanos> starts = day_starts(market);
  ASSERT_EQ(starts.size(), 8U);
  for (const Sequence& s : market) {
    std::size_t own = 0;
    while (own + 1 < starts.size() && starts[own + 1] <= s.available_at.front()) ++own;
    EXPECT_LT(s.available_at.back(), starts[own + 1]) << "no day reaches into the next";
  }
  EXPECT_THAT(day_starts({}), testing::IsEmpty());
}

TEST(FoldPlan, DaysDoNotDependOnTheOrderOfSequencesOrOnEmptyOnes) {
  Rng rng(6);
  std::vector<Sequence> market = a_market(rng, 7, 5);
  const std::vector<UnixNanos> starts = day_starts(market);
  std::ranges::reverse(market);
  Sequence empty;
  empty.trade_date = Date{std::chrono::sys_days{parse_date("2024-02-01")}};
  market.push_back(empty);
  EXPECT_EQ(day_starts(market), starts);
}

TEST(FoldPlan, MinutesCountUpToTheOneThatHoldsTheLastRow) {
  const UnixNanos begin{std::chrono::sys_days{parse_date("2024-03-04")}};
  const std::vector<UnixNanos> hours{begin, begin + minutes{60} + std::chrono::seconds{1}};
  const FoldPlan plan =
      plan_folds({.unit = WalkForwardUnit::kMinutes, .train = 40, .valid = 10, .test = 11}, hours);
  EXPECT_EQ(plan.length, 61);
  EXPECT_GT(plan.folds.back().test_end, hours.back() - std::chrono::seconds{1});
}

/// Every rule of the plan and its splits, row by row, for random markets and plans.
TEST(FoldPlan, NoFoldSeesItsTestAndEveryRowIsTestedOnceByBruteForce) {
  Rng rng(2);
  int folds_seen = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const auto horizon = static_cast<std::int64_t>(1 + rng.below(15));
    const std::vector<Sequence> market = a_market(rng, 14, horizon);
    const bool by_day = rng.below(3) > 0;
    const std::int64_t unit = by_day ? 1 : 1440;
    WalkForwardConfig config{
        .kind = rng.below(2) == 0 ? WalkForwardKind::kRolling : WalkForwardKind::kAnchored,
        .unit = by_day ? WalkForwardUnit::kDays : WalkForwardUnit::kMinutes,
        .train = static_cast<std::int64_t>(3 + rng.below(4)) * unit,
        .valid = static_cast<std::int64_t>(1 + rng.below(2)) * unit,
        .test = static_cast<std::int64_t>(1 + rng.below(3)) * unit};
    if (rng.below(3) == 0)
      config.step = config.test + static_cast<std::int64_t>(rng.below(2)) * unit;
    const std::int64_t embargo = static_cast<std::int64_t>(rng.below(40));
    const FoldPlan plan = plan_folds(config, day_starts(market));
    std::map<std::pair<std::size_t, std::size_t>, int> tested;
    for (const Fold& fold : plan.folds) {
      train::Split split;
      try {
        split = make_split(fold.to_split({.embargo_minutes = embargo}), market);
      } catch (const ConfigError&) {
        continue;  // a part of this fold fell into closed hours, and it says so
      }
      ++folds_seen;
      for (std::size_t s = 0; s < market.size(); ++s) {
        for (std::size_t t = 0; t < split.parts[s].size(); ++t) {
          const UnixNanos at = market[s].available_at[t];
          const UnixNanos end = market[s].labels.valid[t] != 0 ? market[s].labels.end[t] : at;
          switch (split.parts[s][t]) {
            case Part::kTrain:
              ASSERT_GE(at, fold.train_begin);
              ASSERT_LT(end, fold.train_end - minutes{embargo});
              break;
            case Part::kValid:
              ASSERT_GE(at, fold.train_end);
              ASSERT_LT(end, fold.valid_end - minutes{embargo});
              break;
            case Part::kTest:
              ASSERT_GE(at, fold.valid_end);
              ASSERT_LT(at, fold.test_end);
              ++tested[{s, t}];
              break;
            case Part::kPurged:
              ASSERT_TRUE(end >= fold.train_end - minutes{embargo});
              break;
            case Part::kOutside:
              ASSERT_TRUE(at < fold.train_begin || at >= fold.test_end);
              break;
          }
        }
      }
    }
    for (const auto& [row, times] : tested) ASSERT_EQ(times, 1);
  }
  EXPECT_GT(folds_seen, 300);
}

TEST(FoldPlan, StepsByTheTestLeaveNoRowUntestedBehindTheFirstTest) {
  Rng rng(3);
  const std::vector<Sequence> market = a_market(rng, 20, 5);
  const std::vector<UnixNanos> starts = day_starts(market);
  const FoldPlan plan = plan_folds({.train = 6, .valid = 2, .test = 3}, starts);
  ASSERT_EQ(plan.folds.size(), 4U);  // 8 + 3 k <= 20
  EXPECT_EQ(plan.length, 20);
  EXPECT_EQ(plan.unused, 0);
  for (std::size_t k = 1; k < plan.folds.size(); ++k) {
    EXPECT_EQ(plan.folds[k].valid_end, plan.folds[k - 1].test_end);
    EXPECT_EQ(plan.folds[k].train_begin, starts[3 * k]) << "rolling keeps its length";
  }
  EXPECT_EQ(plan_folds({.train = 6, .valid = 2, .test = 4}, starts).unused, 0);
  EXPECT_EQ(plan_folds({.train = 6, .valid = 2, .test = 5}, starts).unused, 2);
}

TEST(FoldPlan, AnchoredBeginsWithTheDataAndGrows) {
  Rng rng(4);
  const std::vector<UnixNanos> starts = day_starts(a_market(rng, 12, 5));
  const FoldPlan plan = plan_folds(
      {.kind = WalkForwardKind::kAnchored, .train = 4, .valid = 1, .test = 2, .max_folds = 3},
      starts);
  ASSERT_EQ(plan.folds.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(plan.folds[k].train_begin, starts.front());
    EXPECT_EQ(plan.folds[k].train_end, starts[4 + 2 * k]);
  }
  EXPECT_EQ(plan.unused, 1);
  EXPECT_EQ(plan_folds({.train = 4, .valid = 1, .test = 2, .max_folds = 2}, starts).folds.size(),
            2U);
}

TEST(FoldPlan, RefusesWhatCannotBe) {
  Rng rng(5);
  const std::vector<UnixNanos> starts = day_starts(a_market(rng, 5, 5));
  const auto refusal = [&](const WalkForwardConfig& config) -> std::string {
    try {
      plan_folds(config, starts);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({.train = 4, .valid = 1, .test = 1}), HasSubstr("the data has 5"));
  EXPECT_THAT(refusal({.train = 1, .valid = 1, .test = 2, .step = 1}), HasSubstr("tested twice"));
  EXPECT_THAT(refusal({.train = 0, .valid = 1, .test = 1}), HasSubstr("train"));
}

}  // namespace
}  // namespace foxhunt::experiments
