// What the columns hold, which bars are taken, and where sequences begin.
#include "foxhunt/features/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/features/test_bars.h"

namespace foxhunt::features {
namespace {

using market::Bar;
using std::chrono::minutes;
using test::bar_at;
using test::make_pipeline;
using test::push_all;
using test::small_config;

const UnixNanos kOpen = parse_time("2013-10-07T22:00");  // of the session of 2013-10-08

/// The columns of the last bar, in float64, straight from the definitions in pipeline.h.
std::map<std::string, double> oracle(const FeatureConfig& config, const std::vector<Bar>& bars,
                                     const market::Session& session) {
  const std::size_t t = bars.size() - 1;
  const auto close = [&bars](std::size_t i) { return bars[i].close.to_double(); };
  const auto volatility = [&](std::int64_t span) {
    double sum = 0;
    for (std::size_t i = t + 1 - static_cast<std::size_t>(span); i <= t; ++i) {
      sum += std::pow(std::log(close(i) / close(i - 1)), 2);
    }
    const double floor = 0.25 / close(t) / std::sqrt(static_cast<double>(span));
    return std::max(std::sqrt(sum / static_cast<double>(span)), floor);
  };
  const Bar& bar = bars[t];
  const double high = bar.high.to_double();
  const double low = bar.low.to_double();
  const double sigma = volatility(config.volatility_spans.back());
  std::map<std::string, double> want;
  for (const std::int64_t k : config.return_spans) {
    want["ret_" + std::to_string(k)] = std::log(close(t) / close(t - static_cast<std::size_t>(k))) /
                                       (sigma * std::sqrt(static_cast<double>(k)));
  }
  want["range"] = std::log(high / low) / sigma;
  want["close_location"] = high == low ? 0 : ((close(t) - low) - (high - close(t))) / (high - low);
  double past = 0;
  for (std::size_t i = 1; i <= static_cast<std::size_t>(config.volume_span); ++i) {
    past += std::log(1.0 + static_cast<double>(bars[t - i].volume));
  }
  want["volume"] = std::log(1.0 + static_cast<double>(bar.volume)) -
                   past / static_cast<double>(config.volume_span);
  for (std::size_t i = 0; i < config.volatility_spans.size(); ++i) {
    const std::int64_t span = config.volatility_spans[i];
    want["vol_" + std::to_string(span)] = std::log(volatility(span) / 1e-4);
    if (i + 1 == config.volatility_spans.size()) continue;
    const std::int64_t next = config.volatility_spans[i + 1];
    want["vol_" + std::to_string(span) + "_over_" + std::to_string(next)] =
        std::log(volatility(span) / volatility(next));
  }
  const auto in_minutes = [](auto d) { return std::chrono::duration<double>(d).count() / 60; };
  want["since_open"] = in_minutes(bar.end() - session.open);
  want["to_close"] = in_minutes(session.close - bar.end());
  want["clock_sin"] = std::sin(want["since_open"] / 1440 * 2 * 3.14159265358979323846);
  want["clock_cos"] = std::cos(want["since_open"] / 1440 * 2 * 3.14159265358979323846);
  return want;
}

void expect_rows_equal_oracle(const FeatureConfig& config, const std::vector<Bar>& bars) {
  FeaturePipeline pipeline = make_pipeline(config);
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  std::vector<Bar> so_far;
  int compared = 0;
  for (const Bar& bar : bars) {
    so_far.push_back(bar);
    if (pipeline.push(bar, row).status != Status::kReady) continue;
    const auto want = oracle(config, so_far, pipeline.session());
    ASSERT_EQ(want.size(), row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& name = pipeline.schema().columns[i].name;
      ASSERT_TRUE(want.contains(name)) << name;
      // Half a unit in the last place of a float is 6e-8 of the value; the float64 sums add far
      // less.
      EXPECT_NEAR(row[i], want.at(name), 1e-7 * std::max(1.0, std::abs(want.at(name))))
          << name << " at bar " << so_far.size();
    }
    ++compared;
  }
  EXPECT_EQ(compared, static_cast<int>(bars.size()) - pipeline.schema().warm_up() + 1);
}

TEST(FeaturePipeline, RowsEqualTheDefinitionsInFloat64) {
  Rng rng(1);
  expect_rows_equal_oracle(small_config(), test::random_bars(rng, kOpen, 300));
  expect_rows_equal_oracle(FeatureConfig{}, test::random_bars(rng, kOpen, 300));
}

TEST(FeaturePipeline, ClosedFormsOfSixHandMadeBars) {
  const FeatureConfig config{.return_spans = {1, 2}, .volatility_spans = {2, 4}, .volume_span = 2};
  FeaturePipeline pipeline = make_pipeline(config);
  // Closes 1000, x2, x2, x2, x2, x2: every one-bar return is ln 2, so is every volatility.
  std::vector<Bar> bars;
  double close = 1000;
  for (int i = 0; i < 6; ++i) {
    bars.push_back(bar_at(kOpen + minutes{i}, close, 2 * close, close, i == 0 ? close : 2 * close,
                          static_cast<std::uint64_t>(i == 5 ? 7 : 1)));
    if (i > 0) close *= 2;
  }
  const auto rows = push_all(pipeline, bars).rows;
  const std::vector<float>& row = rows.back();
  const auto at = [&](const char* name) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (pipeline.schema().columns[i].name == name) return row[i];
    }
    return std::nanf("");
  };
  EXPECT_FLOAT_EQ(at("ret_1"), 1.0F);
  EXPECT_FLOAT_EQ(at("ret_2"), std::sqrt(2.0F));  // 2 ln 2 / (ln 2 sqrt 2)
  EXPECT_FLOAT_EQ(at("range"), 1.0F);
  EXPECT_EQ(at("close_location"), 1.0F);
  EXPECT_FLOAT_EQ(at("volume"), std::log(4.0F));  // ln(1+7) - ln(1+1)
  EXPECT_FLOAT_EQ(at("vol_2"), std::log(std::log(2.0F) * 1e4F));
  EXPECT_NEAR(at("vol_2_over_4"), 0.0F, 1e-15);
  EXPECT_EQ(at("since_open"), 6.0F);
  EXPECT_EQ(at("to_close"), 23.25F * 60 - 6);  // 17:00 to 16:15 Chicago in 2013
  EXPECT_FLOAT_EQ(at("clock_sin"), std::sin(6.2831853F * 6 / 1440));
}

TEST(FeaturePipeline, AStandstillGivesFiniteRows) {
  FeaturePipeline pipeline = make_pipeline();
  std::vector<Bar> bars(20, bar_at(kOpen, 1700, 1700, 1700, 1700, 0));
  for (std::size_t i = 0; i < bars.size(); ++i) bars[i].start += minutes{i};
  bars.back().high = bars.back().close = test::points(1700.25);
  for (const auto& row : push_all(pipeline, bars).rows) {
    for (const float value : row) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(FeaturePipeline, ExtremePricesGiveFiniteRows) {
  FeaturePipeline pipeline = make_pipeline();
  std::vector<Bar> bars;
  for (int i = 0; i < 30; ++i) {
    Bar bar = bar_at(kOpen + minutes{i}, 1, 1, 1, 1, std::numeric_limits<std::uint64_t>::max() - 1);
    bar.low = Price{1};
    bar.high = Price{Price::kNullNano - 1};
    bar.close = i % 2 == 0 ? bar.low : bar.high;
    bars.push_back(bar);
  }
  const auto outcome = push_all(pipeline, bars);
  EXPECT_EQ(pipeline.counters().ready, 22);
  for (const auto& row : outcome.rows) {
    for (const float value : row) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(FeaturePipeline, IgnoresAndCountsEveryKindOfBadBar) {
  Rng rng(2);
  const std::vector<Bar> good = test::random_bars(rng, kOpen, 40);
  std::vector<Bar> bars(good.begin(), good.begin() + 30);
  const auto spoil = [&](auto change) {
    Bar bar = good[30];
    change(bar);
    bars.push_back(bar);
  };
  spoil([](Bar& b) { b.close = Price::null(); });
  spoil([](Bar& b) { b.start = kNullTime; });
  spoil([](Bar& b) { b.start = UnixNanos::max(); });
  spoil([](Bar& b) { b.volume = std::numeric_limits<std::uint64_t>::max(); });
  spoil([](Bar& b) { b.low = Price{-1}; });
  spoil([](Bar& b) { b.open = b.low = Price{0}; });
  spoil([](Bar& b) { b.high = Price{std::min(b.open, b.close).nano - 1}; });
  spoil([](Bar& b) { b.low = Price{std::min(b.open, b.close).nano + 1}; });
  spoil([](Bar& b) { std::swap(b.low, b.high), b.low.nano += 1; });
  spoil([](Bar& b) { b.span = minutes{5}; });
  spoil([](Bar& b) { b.span = std::chrono::seconds{-60}; });

  FeaturePipeline pipeline = make_pipeline();
  const auto outcome = push_all(pipeline, bars);
  for (std::size_t i = 30; i < bars.size(); ++i) {
    EXPECT_EQ(outcome.results[i].status, Status::kBadBar) << i;
    EXPECT_FALSE(outcome.results[i].starts_sequence);
  }
  const PushCounters& counters = pipeline.counters();
  EXPECT_EQ(counters.null_value, 4);
  EXPECT_EQ(counters.non_positive_price, 2);
  EXPECT_EQ(counters.inconsistent_ohlc, 3);
  EXPECT_EQ(counters.other_length, 2);
  EXPECT_EQ(counters.bad(), 11);
  // They left no trace: the good bars behind them give what they give without them.
  FeaturePipeline clean = make_pipeline();
  push_all(clean, {good.begin(), good.begin() + 30});
  const std::vector<Bar> rest(good.begin() + 30, good.end());
  EXPECT_EQ(push_all(pipeline, rest).rows, push_all(clean, rest).rows);
}

TEST(FeaturePipeline, TellsDuplicatesConflictsAndBackStepsApart) {
  Rng rng(3);
  const std::vector<Bar> bars = test::random_bars(rng, kOpen, 20);
  FeaturePipeline pipeline = make_pipeline();
  push_all(pipeline, bars);
  Bar conflict = bars.back();
  conflict.volume += 1;
  Bar overlapping = bars.back();
  overlapping.start += std::chrono::seconds{30};
  Bar other_contract = bars.back();
  other_contract.instrument.instrument_id = 9;
  for (const auto& r :
       push_all(pipeline, {bars.back(), conflict, bars[3], overlapping, other_contract}).results) {
    EXPECT_EQ(r.status, Status::kOutOfOrder);
    EXPECT_FALSE(r.starts_sequence);
  }
  EXPECT_EQ(pipeline.counters().duplicates, 1);
  EXPECT_EQ(pipeline.counters().conflicts, 1);
  EXPECT_EQ(pipeline.counters().out_of_order, 3);
  EXPECT_EQ(pipeline.counters().unordered(), 5);
}

TEST(FeaturePipeline, EveryBarIsCountedOnce) {
  Rng rng(4);
  std::vector<Bar> bars = test::random_bars(rng, kOpen - minutes{30}, 300);
  bars[100].close = Price::null();
  bars[101] = bars[99];
  FeaturePipeline pipeline = make_pipeline();
  push_all(pipeline, bars);
  const PushCounters& c = pipeline.counters();
  EXPECT_EQ(c.closed, 30);
  EXPECT_EQ(c.bars, 300);
  EXPECT_EQ(c.bars, c.ready + c.warming_up + c.closed + c.bad() + c.unordered());
  EXPECT_EQ(c.warming_up, 8);
  EXPECT_THAT(c.summary(), testing::HasSubstr("300 bars: 260 ready, 8 warming up in 1 sequences"));
  EXPECT_THAT(c.summary(),
              testing::HasSubstr("30 outside of sessions, 1 with undefined values, 1 duplicates"));
}

/// Indices of bars that begin a sequence.
std::vector<std::size_t> starts_of(FeaturePipeline& pipeline, const std::vector<Bar>& bars) {
  std::vector<std::size_t> starts;
  const auto outcome = push_all(pipeline, bars);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    if (!outcome.results[i].starts_sequence) continue;
    starts.push_back(i);
    // The warm-up begins anew: no row for the next 8 bars, one at the ninth.
    for (std::size_t k = i; k < std::min(i + 8, bars.size()); ++k) {
      EXPECT_EQ(outcome.results[k].status, Status::kWarmingUp) << k;
    }
    if (i + 8 < bars.size()) {
      EXPECT_EQ(outcome.results[i + 8].status, Status::kReady);
    }
  }
  return starts;
}

TEST(FeaturePipeline, ANewSessionContractOrLongHoleWarmsUpAnew) {
  Rng rng(5);
  std::vector<Bar> bars = test::random_bars(rng, kOpen, 90);
  for (std::size_t i = 30; i < 90; ++i) bars[i].start += minutes{30};  // not longer than the limit
  for (std::size_t i = 50; i < 90; ++i) bars[i].start += minutes{31};
  for (std::size_t i = 70; i < 90; ++i) bars[i].instrument.instrument_id = 8;
  const auto next_day = test::random_bars(rng, kOpen + std::chrono::hours{24}, 20);
  bars.insert(bars.end(), next_day.begin(), next_day.end());
  FeaturePipeline pipeline = make_pipeline();
  EXPECT_THAT(starts_of(pipeline, bars), testing::ElementsAre(0, 50, 70, 90));
  const PushCounters& c = pipeline.counters();
  EXPECT_EQ(c.sequences, 4);
  EXPECT_EQ(c.new_session, 2);
  EXPECT_EQ(c.long_gap, 1);
  EXPECT_EQ(c.new_contract, 1);
}

TEST(FeaturePipeline, AHaltInsideASessionEndsTheSequence) {
  // Until June 2021 ES paused from 15:15 to 15:30 Chicago: 20:15 to 20:30 UTC in October.
  Rng rng(6);
  const std::vector<Bar> bars = test::random_bars(rng, parse_time("2013-10-08T20:00"), 60);
  FeaturePipeline pipeline = make_pipeline();
  EXPECT_THAT(starts_of(pipeline, bars), testing::ElementsAre(0, 30));
  EXPECT_EQ(pipeline.counters().closed, 15);
  EXPECT_EQ(pipeline.counters().after_halt, 1);
  EXPECT_EQ(pipeline.session().open, kOpen);
}

TEST(FeaturePipeline, ABarThatReachesOverTheCloseIsNotTaken) {
  FeatureConfig config = small_config();
  config.bar_seconds = 3600;
  FeaturePipeline pipeline = make_pipeline(config);
  Rng rng(7);
  std::vector<Bar> bars = test::random_bars(rng, parse_time("2013-10-08T17:00"), 5);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    bars[i].start = parse_time("2013-10-08T17:00") + std::chrono::hours{i};
    bars[i].span = std::chrono::hours{1};
  }
  // 20:00 holds the halt of 20:15, 21:00 the close of 21:15.
  std::vector<Status> statuses;
  for (const auto& result : push_all(pipeline, bars).results) statuses.push_back(result.status);
  using enum Status;
  EXPECT_THAT(statuses, testing::ElementsAre(kWarmingUp, kWarmingUp, kWarmingUp, kClosed, kClosed));
}

TEST(FeaturePipeline, DaylightSavingMovesTheSessionNotTheClock) {
  // Clocks in Chicago went back on Sunday 2013-11-03: the open moved from 22:00 to 23:00 UTC.
  for (const auto& [open, first_of_next] : {std::pair{"2013-10-31T22:00", "2013-11-03T23:00"},
                                            std::pair{"2014-03-06T23:00", "2014-03-09T22:00"}}) {
    Rng rng(8);
    std::vector<Bar> bars = test::random_bars(rng, parse_time(open), 20);
    const auto next = test::random_bars(rng, parse_time(first_of_next) - minutes{5}, 25);
    bars.insert(bars.end(), next.begin(), next.end());
    FeaturePipeline pipeline = make_pipeline();
    const auto outcome = push_all(pipeline, bars);
    EXPECT_EQ(pipeline.counters().closed, 5);
    EXPECT_TRUE(outcome.results[25].starts_sequence);
    const auto& before = outcome.rows[19];  // the 20th minute of both sessions
    const auto& after = outcome.rows[44];
    ASSERT_FALSE(before.empty());
    ASSERT_FALSE(after.empty());
    for (std::size_t i = 0; i < before.size(); ++i) {
      const std::string& name = pipeline.schema().columns[i].name;
      if (name == "since_open" || name.rfind("clock", 0) == 0) {
        EXPECT_EQ(before[i], after[i]) << name;
      }
      if (name == "since_open") {
        EXPECT_EQ(before[i], 20.0F);
      }
    }
  }
}

TEST(FeaturePipeline, KnowsTheCloseOfAnEarlyClosingDay) {
  // 2013-11-29, the Friday after Thanksgiving: 12:15 Chicago, 18:15 UTC.
  Rng rng(9);
  FeaturePipeline pipeline = make_pipeline();
  const auto outcome =
      push_all(pipeline, test::random_bars(rng, parse_time("2013-11-29T18:00"), 20));
  EXPECT_EQ(pipeline.counters().closed, 5);
  for (std::size_t i = 0; i < outcome.rows[14].size(); ++i) {
    if (pipeline.schema().columns[i].name == "to_close") {
      EXPECT_EQ(outcome.rows[14][i], 0.0F);
    }
  }
}

TEST(FeaturePipeline, ResetIsAsNewlyConstructed) {
  Rng rng(10);
  const std::vector<Bar> bars = test::random_bars(rng, kOpen, 60);
  FeaturePipeline used = make_pipeline();
  push_all(used, bars);
  used.reset();
  EXPECT_EQ(used.counters().bars, 0);
  EXPECT_TRUE(is_null(used.session().open));
  FeaturePipeline fresh = make_pipeline();
  EXPECT_EQ(push_all(used, bars).rows, push_all(fresh, bars).rows);
}

TEST(FeaturePipeline, RefusesAConfigNamingEverythingThatIsWrong) {
  const FeatureConfig config{
      .return_spans = {5, 5}, .volatility_spans = {}, .volume_span = 1, .clip = -1};
  market::Contract contract;
  contract.product = "X";
  try {
    const FeaturePipeline refused(config, market::Calendar::for_product("ES"), contract);
    FAIL() << "expected ConfigError";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("return_spans = [5, 5], but each must be larger"));
    EXPECT_THAT(error.what(), testing::HasSubstr("volatility_spans is empty"));
    EXPECT_THAT(error.what(), testing::HasSubstr("volume_span = 1 is outside [2, 1000]"));
    EXPECT_THAT(error.what(), testing::HasSubstr("clip = -1"));
    EXPECT_THAT(error.what(), testing::HasSubstr("contract 'X' has no tick size"));
  }
  FeaturePipeline pipeline = make_pipeline();
  std::vector<float> row(3);
  EXPECT_THROW(pipeline.push(Bar{}, row), ShapeError);
}

}  // namespace
}  // namespace foxhunt::features
