#include "foxhunt/series/bar_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/series/test_ticks.h"

namespace foxhunt::series {
namespace {

using test::es;
using test::es_calendar;
using test::kOpen;
using test::random_ticks;
using test::tick_at;
using namespace std::chrono_literals;

std::vector<EventBar> bars_of(const std::vector<Tick>& ticks, const BarConfig& config,
                              BarCounters* counters = nullptr, bool finish = true) {
  BarBuilder builder(config, es(), es_calendar());
  std::vector<EventBar> bars;
  for (const Tick& tick : ticks)
    for (const EventBar& bar : builder.push(tick)) bars.push_back(bar);
  if (finish)
    for (const EventBar& bar : builder.finish()) bars.push_back(bar);
  if (counters != nullptr) *counters = builder.counters();
  return bars;
}

bool same(const EventBar& a, const EventBar& b) {
  return a.start == b.start && a.end == b.end && a.available_at == b.available_at &&
         a.open == b.open && a.high == b.high && a.low == b.low && a.close == b.close &&
         a.volume == b.volume && a.ticks == b.ticks && a.buy_volume == b.buy_volume &&
         a.sell_volume == b.sell_volume && a.value == b.value && a.imbalance == b.imbalance &&
         a.cut == b.cut;
}

/// Where a trade's stretch of trading begins: open of its session, or the end of the halt before.
UnixNanos stretch_of(UnixNanos t, bool halts) {
  const auto session = es_calendar().session_at(t);
  return halts && !is_null(session->halt_start) && t >= session->halt_end ? session->halt_end
                                                                          : session->open;
}

/// The groups of trades that make the bars, by looking at whole groups again and again.
std::vector<std::vector<Tick>> brute_force(const std::vector<Tick>& ticks, const BarConfig& c) {
  const auto group_is_whole = [&](const std::vector<Tick>& group) {
    double sum = 0, high = -1e300, low = 1e300;
    for (const Tick& tick : group) {
      const double price = tick.price.to_double();
      high = std::max(high, price);
      low = std::min(low, price);
      if (c.kind == BarKind::kTick) sum += 1;
      if (c.kind == BarKind::kVolume) sum += tick.size;
      if (c.kind == BarKind::kDollar) sum += price * tick.size * 50;
    }
    if (c.kind == BarKind::kRange) sum = (high - low) / 0.25;
    return sum >= static_cast<double>(c.size);
  };
  const auto interval = [&](const Tick& tick) {
    return c.kind == BarKind::kTime ? count(tick.ts_event) / (c.size * 1'000'000'000) : 0;
  };
  std::vector<std::vector<Tick>> groups;
  bool open = false;
  for (const Tick& tick : ticks) {
    const bool halts = c.kind != BarKind::kSession;
    if (open &&
        (stretch_of(groups.back().back().ts_event, halts) != stretch_of(tick.ts_event, halts) ||
         interval(groups.back().back()) != interval(tick)))
      open = false;
    if (!open) groups.emplace_back();
    groups.back().push_back(tick);
    const bool clock = c.kind == BarKind::kTime || c.kind == BarKind::kSession;
    open = clock || !group_is_whole(groups.back());
  }
  return groups;
}

class EveryKind : public testing::TestWithParam<BarConfig> {};

TEST_P(EveryKind, EqualsBruteForceAndKeepsEveryContract) {
  // Gaps of 40 s: the 20,000 trades cross sessions, halts and two weekends.
  const std::vector<Tick> ticks = random_ticks(11, 20'000, 40s);
  BarCounters counters;
  const std::vector<EventBar> bars = bars_of(ticks, GetParam(), &counters);
  const auto groups = brute_force(ticks, GetParam());
  ASSERT_EQ(bars.size(), groups.size());
  std::uint64_t volume = 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto& group = groups[i];
    Price high = group[0].price, low = high;
    std::uint64_t contracts = 0, bought = 0, sold = 0;
    double value = 0;
    for (const Tick& tick : group) {
      high = std::max(high, tick.price);
      low = std::min(low, tick.price);
      contracts += tick.size;
      if (tick.aggressor == market::Side::kBid) bought += tick.size;
      if (tick.aggressor == market::Side::kAsk) sold += tick.size;
      value += tick.price.to_double() * tick.size * 50;
    }
    ASSERT_EQ(bars[i].open, group.front().price) << i;
    ASSERT_EQ(bars[i].close, group.back().price) << i;
    ASSERT_EQ(bars[i].high, high) << i;
    ASSERT_EQ(bars[i].low, low) << i;
    ASSERT_EQ(bars[i].volume, contracts) << i;
    ASSERT_EQ(bars[i].buy_volume, bought) << i;
    ASSERT_EQ(bars[i].sell_volume, sold) << i;
    ASSERT_EQ(bars[i].ticks, group.size()) << i;
    // Quarter points times contracts times 50 are whole halves: sums below 2^53 are exact.
    ASSERT_EQ(bars[i].value, value) << i;
    ASSERT_GE(bars[i].available_at, group.back().ts_recv) << i;
    ASSERT_LE(bars[i].start, group.front().ts_event) << i;
    ASSERT_GE(bars[i].end, group.back().ts_event) << i;
    ASSERT_GE(bars[i].available_at, bars[i].end) << i;
    volume += contracts;
  }
  EXPECT_EQ(volume, std::accumulate(ticks.begin(), ticks.end(), std::uint64_t{0},
                                    [](auto sum, const Tick& t) { return sum + t.size; }));
  EXPECT_EQ(counters.ticks, 20'000);
  EXPECT_EQ(counters.outside_session + counters.without_price + counters.late, 0);
}

TEST_P(EveryKind, BarsOfTheFirstTradesAreTheFirstBars) {
  const std::vector<Tick> ticks = random_ticks(5, 3'000, 40s);
  const std::vector<EventBar> all = bars_of(ticks, GetParam());
  for (const std::ptrdiff_t n : {1, 2, 777, 1500, 2999}) {
    const std::vector<Tick> some(ticks.begin(), ticks.begin() + n);
    const std::vector<EventBar> bars = bars_of(some, GetParam(), nullptr, false);
    ASSERT_LE(bars.size(), all.size());
    for (std::size_t i = 0; i < bars.size(); ++i)
      ASSERT_TRUE(same(bars[i], all[i])) << n << ' ' << i;
  }
}

TEST_P(EveryKind, DroppedCutBarsAreCountedToTheContract) {
  const std::vector<Tick> ticks = random_ticks(6, 5'000, 40s);
  BarConfig config = GetParam();
  BarCounters kept, dropped;
  const auto all = bars_of(ticks, config, &kept);
  config.cut = CutBars::kDrop;
  const auto whole = bars_of(ticks, config, &dropped);
  const auto sum = [](const std::vector<EventBar>& bars) {
    return std::accumulate(bars.begin(), bars.end(), std::uint64_t{0},
                           [](auto total, const EventBar& bar) { return total + bar.volume; });
  };
  EXPECT_EQ(sum(all), sum(whole) + dropped.dropped_volume);
  EXPECT_EQ(kept.cut_bars, dropped.cut_bars);
  EXPECT_EQ(dropped.dropped_bars, dropped.cut_bars);
  EXPECT_EQ(kept.bars, dropped.bars + dropped.dropped_bars);
  EXPECT_GT(dropped.cut_bars, 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind,
                         testing::Values(BarConfig{.kind = BarKind::kTime, .size = 1},
                                         BarConfig{.kind = BarKind::kTime, .size = 60},
                                         BarConfig{.kind = BarKind::kTime, .size = 3600},
                                         BarConfig{.kind = BarKind::kSession},
                                         BarConfig{.kind = BarKind::kTick, .size = 28},
                                         BarConfig{.kind = BarKind::kVolume, .size = 280},
                                         BarConfig{.kind = BarKind::kDollar, .size = 20'000'000},
                                         BarConfig{.kind = BarKind::kRange, .size = 8}));

TEST(BarBuilder, VolumeBarsByHand) {
  // 3 + 4 reach 5; 9 alone makes a bar; 2 is left when the data end.
  const std::vector<EventBar> bars =
      bars_of({tick_at(kOpen + 1s, 1700, 3, market::Side::kBid), tick_at(kOpen + 2s, 1701, 4),
               tick_at(kOpen + 3s, 1699.75, 9, market::Side::kAsk), tick_at(kOpen + 4s, 1700, 2)},
              {.kind = BarKind::kVolume, .size = 5});
  ASSERT_EQ(bars.size(), 3U);
  EXPECT_EQ(bars[0].volume, 7U);
  EXPECT_EQ(bars[0].start, kOpen + 1s);
  EXPECT_EQ(bars[0].end, kOpen + 2s);
  EXPECT_EQ(bars[0].available_at, kOpen + 2s + 3ms);
  EXPECT_EQ(bars[0].buy_volume, 3U);
  EXPECT_EQ(bars[0].value, (1700 * 3 + 1701 * 4) * 50.0);
  EXPECT_EQ(bars[1].volume, 9U);
  EXPECT_EQ(bars[1].sell_volume, 9U);
  EXPECT_FALSE(bars[1].cut);
  EXPECT_EQ(bars[2].volume, 2U);
  EXPECT_TRUE(bars[2].cut);
}

TEST(BarBuilder, Pitfall26ATimeBarIsKnownAtItsEndOrWhenItsLastTradeArrived) {
  Tick delayed = tick_at(kOpen + 59s, 1700, 1);
  delayed.ts_recv = kOpen + 65s;
  const auto bars = bars_of({tick_at(kOpen + 10s, 1700, 1), tick_at(kOpen + 70s, 1700, 1)}, {});
  EXPECT_EQ(bars[0].start, kOpen);
  EXPECT_EQ(bars[0].end, kOpen + 1min);
  EXPECT_EQ(bars[0].available_at, kOpen + 1min);
  EXPECT_EQ(bars_of({delayed, tick_at(kOpen + 70s, 1700, 1)}, {})[0].available_at, kOpen + 65s);
}

TEST(BarBuilder, ATimeBarAtTheEndOfTheDataIsWholeWhereTheDataReachItsEnd) {
  for (const auto& [until, cut] : {std::pair{kOpen + 60s, false}, {kOpen + 59s, true}}) {
    BarBuilder builder({}, es(), es_calendar());
    builder.push(tick_at(kOpen + 10s, 1700, 1));
    const auto bars = builder.finish(until);
    ASSERT_EQ(bars.size(), 1U);
    EXPECT_EQ(bars[0].cut, cut);
  }
}

TEST(BarBuilder, Pitfall29NoBarCrossesABreakOrAHalt) {
  // The session of 2013-10-08 halts from 20:15 to 20:30 UTC and closes at 21:15.
  const UnixNanos halt = parse_time("2013-10-08T20:15"), close = parse_time("2013-10-08T21:15");
  const std::vector<Tick> ticks = {
      tick_at(halt - 1s, 1700, 1),  tick_at(halt, 1700, 1),  tick_at(halt + 15min, 1700, 1),
      tick_at(close - 1s, 1700, 1), tick_at(close, 1700, 1), tick_at(close + 45min + 1s, 1700, 1)};
  BarCounters counters;
  const auto bars = bars_of(ticks, {.kind = BarKind::kTick, .size = 100}, &counters);
  ASSERT_EQ(bars.size(), 3U);
  EXPECT_EQ(bars[1].ticks, 2U);
  EXPECT_EQ(counters.outside_session, 2);
  EXPECT_EQ(counters.outside_volume, 2U);
  EXPECT_EQ(counters.cut_bars, 3);
  // Hours end with the halt and with the session.
  const auto hours = bars_of(ticks, {.kind = BarKind::kTime, .size = 3600}, &counters);
  ASSERT_EQ(hours.size(), 4U);
  EXPECT_EQ(hours[0].end, halt);
  EXPECT_EQ(hours[1].start, halt + 15min);
  EXPECT_EQ(hours[2].end, close);
  EXPECT_EQ(counters.cut_bars, 1);
  const auto sessions = bars_of(ticks, {.kind = BarKind::kSession}, &counters);
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].start, kOpen);
  EXPECT_EQ(sessions[0].end, close);
  EXPECT_EQ(sessions[0].volume, 3U);  // the trade in the halt is none of any session
  EXPECT_EQ(counters.outside_session, 2);
}

TEST(BarBuilder, Pitfall27ATradeOutOfOrderGoesIntoTheOpenBarAndIsCounted) {
  BarCounters counters;
  const auto bars =
      bars_of({tick_at(kOpen + 61s, 1700, 1), tick_at(kOpen + 59s, 1699, 5)}, {}, &counters);
  ASSERT_EQ(bars.size(), 1U);
  EXPECT_EQ(bars[0].start, kOpen + 60s);
  EXPECT_EQ(bars[0].volume, 6U);
  EXPECT_EQ(counters.late, 1);
}

TEST(BarBuilder, Pitfall13ANullPriceOrTimeIsLeftOutAndCounted) {
  Tick no_price = tick_at(kOpen + 1s, 1700, 7), no_time = no_price;
  no_price.price = Price::null();
  no_time.ts_event = kNullTime;
  BarCounters counters;
  const auto bars = bars_of({no_price, no_time, tick_at(kOpen + 2s, 1700, 1)}, {}, &counters);
  ASSERT_EQ(bars.size(), 1U);
  EXPECT_EQ(bars[0].volume, 1U);
  EXPECT_EQ(counters.without_price, 2);
}

TEST(BarBuilder, ATimeFarAheadLeavesTheTradesBehindItInTheirBars) {
  BarCounters counters;
  const auto bars = bars_of({tick_at(kOpen + 1s, 1700, 1), tick_at(parse_time("2200-01-01"), 1, 9),
                             tick_at(kOpen + 2s, 1701, 1)},
                            {}, &counters);
  ASSERT_EQ(bars.size(), 1U);
  EXPECT_EQ(bars[0].volume, 2U);
  EXPECT_EQ(counters.outside_session, 1);
  EXPECT_EQ(counters.late, 0);
}

TEST(BarBuilder, RangeAndDollarBarsHoldNegativePrices) {
  const auto range = bars_of({tick_at(kOpen + 1s, -1, 1), tick_at(kOpen + 2s, 1, 1)},
                             {.kind = BarKind::kRange, .size = 8});
  ASSERT_EQ(range.size(), 1U);
  EXPECT_FALSE(range[0].cut);
  const auto dollar =
      bars_of({tick_at(kOpen + 1s, -2, 3)}, {.kind = BarKind::kDollar, .size = 300});
  EXPECT_EQ(dollar[0].value, 300.0);
  EXPECT_FALSE(dollar[0].cut);
}

TEST(BarBuilder, ImbalanceWithAFixedLimitByHand) {
  const auto buy = market::Side::kBid, sell = market::Side::kAsk, none = market::Side::kNone;
  // Signs by aggressor: + + - + +; the fourth trade names no side and follows the price up.
  const std::vector<Tick> ticks = {
      tick_at(kOpen + 1s, 1700, 2, buy), tick_at(kOpen + 2s, 1700, 3, buy),
      tick_at(kOpen + 3s, 1700, 4, sell), tick_at(kOpen + 4s, 1701, 5, none),
      tick_at(kOpen + 5s, 1700, 6, buy)};
  const BarConfig fixed{.kind = BarKind::kImbalance, .size = 3, .expectation = Expectation::kFixed};
  auto bars = bars_of(ticks, fixed);
  ASSERT_EQ(bars.size(), 1U);
  EXPECT_EQ(bars[0].imbalance, 3);  // 1 + 1 - 1 + 1 + 1
  EXPECT_FALSE(bars[0].cut);
  BarConfig volume = fixed;
  volume.imbalance_of = ImbalanceOf::kVolume;
  volume.size = 5;
  bars = bars_of(ticks, volume);
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_EQ(bars[0].imbalance, 5);  // 2 + 3
  EXPECT_EQ(bars[1].imbalance, 7);  // - 4 + 5 + 6
  BarConfig by_price = fixed;
  by_price.sign = SignRule::kPrice;
  bars = bars_of(ticks, by_price);
  ASSERT_EQ(bars.size(), 1U);
  EXPECT_EQ(bars[0].imbalance, 0);  // 0 0 0 + -
  EXPECT_TRUE(bars[0].cut);
}

TEST(BarBuilder, RunningImbalanceFollowsItsFormula) {
  const std::vector<Tick> ticks = random_ticks(21, 30'000, 500ms);
  const BarConfig config{.kind = BarKind::kImbalance, .size = 100};
  BarCounters counters;
  const auto bars = bars_of(ticks, config, &counters);
  // The formula of imbalance_rule.h once more, on the signs of all trades; the trades stay inside
  // two sessions and their stretches.
  double mean = 0, square = 0, expected = 100, threshold = 0;
  bool learnt = false;
  std::int64_t sum = 0, sign = 0;
  std::uint64_t n = 0;
  std::vector<std::pair<std::uint64_t, std::int64_t>> want;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    if (i > 0 && stretch_of(ticks[i].ts_event, true) != stretch_of(ticks[i - 1].ts_event, true)) {
      if (n > 0) want.emplace_back(n, sum);
      n = 0;
    }
    if (n == 0) {
      sum = 0;
      threshold = std::max(expected * std::abs(mean), std::sqrt(expected * square));
    }
    if (i > 0 && ticks[i].price != ticks[i - 1].price)
      sign = ticks[i].price > ticks[i - 1].price ? 1 : -1;
    std::int64_t b = sign;
    if (ticks[i].aggressor == market::Side::kBid) b = 1;
    if (ticks[i].aggressor == market::Side::kAsk) b = -1;
    const double alpha = i < 100 ? 1.0 / static_cast<double>(i + 1) : 2.0 / (3 * expected + 1);
    mean += alpha * (static_cast<double>(b) - mean);
    square += alpha * (static_cast<double>(b * b) - square);
    sum += b;
    ++n;
    const bool ends = learnt ? std::abs(static_cast<double>(sum)) >= threshold : n >= 100;
    if (!ends) continue;
    want.emplace_back(n, sum);
    if (learnt)
      expected = std::clamp(expected + 0.5 * (static_cast<double>(n) - expected), 10.0, 1000.0);
    learnt = true;
    n = 0;
  }
  if (n > 0) want.emplace_back(n, sum);
  ASSERT_EQ(bars.size(), want.size());
  ASSERT_GT(bars.size(), 50U);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    ASSERT_EQ(bars[i].ticks, want[i].first) << i;
    ASSERT_EQ(bars[i].imbalance, want[i].second) << i;
  }
}

TEST(BarBuilder, RefusesSizesOutOfRange) {
  for (const BarConfig& config :
       {BarConfig{.kind = BarKind::kVolume, .size = 0},
        BarConfig{.kind = BarKind::kTick, .size = -1},
        BarConfig{.kind = BarKind::kTime, .size = 86'401},
        BarConfig{.kind = BarKind::kImbalance, .size = 10, .expectation_bars = 0}}) {
    EXPECT_THROW(BarBuilder(config, es(), es_calendar()), ConfigError);
  }
}

}  // namespace
}  // namespace foxhunt::series
