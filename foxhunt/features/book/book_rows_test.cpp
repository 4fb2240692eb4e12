// What the columns hold, by hand and by an oracle that recomputes them from all views.
#include "foxhunt/features/book/book_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::features {
namespace {

using book::DepthView;
using book::Level;
using testing::HasSubstr;

constexpr Price kTick{250'000'000};
const UnixNanos kStart = parse_time("2023-12-25T23:30");

struct Event {
  DepthView view;
  EventTally tally;
};

/// Levels as (ticks, size), best first.
using Side = std::vector<std::pair<std::int64_t, std::int64_t>>;

Event make_event(std::int64_t micros, const Side& bids, const Side& asks, EventTally tally = {}) {
  Event e;
  e.tally = tally;
  e.view.ts_recv = e.view.ts_event = kStart + std::chrono::microseconds{micros};
  for (std::size_t i = 0; i < bids.size(); ++i) {
    e.view.bids[i] = {Price{kTick.nano * bids[i].first}, bids[i].second, 1};
  }
  for (std::size_t i = 0; i < asks.size(); ++i) {
    e.view.asks[i] = {Price{kTick.nano * asks[i].first}, asks[i].second, 1};
  }
  return e;
}

std::map<std::string, double> named(const BookRows& rows, const std::vector<float>& row) {
  std::map<std::string, double> out;
  for (std::size_t i = 0; i < row.size(); ++i) out[rows.schema().columns[i].name] = double{row[i]};
  return out;
}

BookFeatureConfig small() {
  BookFeatureConfig config;
  config.levels = {1, 2};
  config.spans = {2};
  return config;
}

TEST(BookRows, HoldWhatAHandComputes) {
  BookRows rows(small(), kTick, std::nullopt);
  std::vector<float> row(static_cast<std::size_t>(rows.width()));
  const Event events[] = {
      make_event(0, {{100, 10}, {99, 4}}, {{101, 6}, {102, 8}}),
      // The bid's queue shrinks by 3; somebody sold 3.
      make_event(100, {{100, 7}, {99, 4}}, {{101, 6}, {102, 8}},
                 {.sold = 3, .trades = 1, .fills = 1, .cancels = 1}),
      // The ask is bought away (6), the next one is best.
      make_event(1099, {{100, 7}, {99, 4}}, {{102, 9}, {103, 5}},
                 {.bought = 6, .trades = 1, .adds = 1}),
  };
  EXPECT_EQ(rows.take(&events[0].view, events[0].tally, row).status, BookStatus::kWarmingUp);
  EXPECT_EQ(rows.take(&events[1].view, events[1].tally, row).status, BookStatus::kWarmingUp);
  ASSERT_EQ(rows.take(&events[2].view, events[2].tally, row).status, BookStatus::kReady);
  const auto got = named(rows, row);
  const auto near = [&got](const char* name, double want) {
    EXPECT_NEAR(got.at(name), want, 1e-6) << name;  // float32 of values below 10
  };
  near("spread", 2);
  near("micro_minus_mid", 1.0 * (7 - 9) / 16);
  near("imbalance_1", -2.0 / 16);
  near("imbalance_2", (11.0 - 14) / 25);
  near("since_last", std::log(1 + 999.0));
  // Event 1: best bid 7 - 10 = -3. Event 2: the ask rises: + 6. Depths 13 and 16.
  near("ofi_1_2", 4.0 * (-3 + 6) / (13 + 16));
  // Second levels: event 2's second ask rises from 102 x 8 to 103: + 8. Depths 25 and 25.
  near("ofi_2_2", 4.0 * (-3 + 6 + 8) / (25 + 25));
  near("flow_2", (6.0 - 3) / 9);
  near("volume_2", std::log(10.0));
  near("adds_2", 0.5);
  near("cancels_2", 0);  // the one came with a fill
  near("depleted_bid_2", 4.0 * 3 / 29);
  near("depleted_ask_2", 4.0 * 6 / 29);
  near("vol_2", std::sqrt(0.25 / 2));  // 0 and half a tick
  near("time_2", std::log(1 + 1099.0));
  EXPECT_EQ(got.size(), 15U);
}

/// Views that wander, with empty second levels, crossed books and improvements.
std::vector<Event> random_events(Rng& rng, int n) {
  std::vector<Event> events;
  std::int64_t micros = 0;
  std::int64_t bid = 19'000;
  for (int i = 0; i < n; ++i) {
    micros += static_cast<std::int64_t>(rng.below(5000));
    bid += static_cast<std::int64_t>(rng.below(3)) - 1;
    std::int64_t ask = bid + 1 + static_cast<std::int64_t>(rng.below(3));
    if (rng.below(20) == 0) ask = bid - static_cast<std::int64_t>(rng.below(2));
    Side bids;
    Side asks;
    const std::uint64_t levels = 1 + rng.below(10);
    for (std::uint64_t m = 0; m < levels; ++m) {
      const auto away = static_cast<std::int64_t>(m);
      bids.emplace_back(bid - away, 1 + rng.below(30));
      if (m < 1 + rng.below(10)) asks.emplace_back(ask + 2 * away, 1 + rng.below(30));
    }
    const auto part = [&rng] { return static_cast<std::int64_t>(rng.below(6)); };
    events.push_back(make_event(micros, bids, asks,
                                {.bought = part(),
                                 .sold = part(),
                                 .unsided = part(),
                                 .trades = part(),
                                 .fills = part() / 4,
                                 .adds = part(),
                                 .cancels = part()}));
  }
  return events;
}

/// Straight from the definitions in book_rows.h, in float64, from the raw views.
std::map<std::string, double> oracle(const BookFeatureConfig& config,
                                     const std::vector<Event>& all) {
  std::map<std::string, double> want;
  const std::size_t t = all.size() - 1;
  const double inf = std::numeric_limits<double>::infinity();
  const auto px = [&](const Level& level, double none) {
    return level.is_empty() ? none : level.price.to_double() / kTick.to_double();
  };
  const auto size = [](const Level& level) { return static_cast<double>(level.size); };
  const DepthView& now = all[t].view;
  const double spread = px(now.asks[0], inf) - px(now.bids[0], -inf);
  want["spread"] = spread;
  const double qb = size(now.bids[0]);
  const double qa = size(now.asks[0]);
  want["micro_minus_mid"] = spread / 2 * (qb - qa) / (qb + qa);
  const auto micros = [&](std::size_t from, std::size_t to) {
    return static_cast<double>((all[to].view.ts_recv - all[from].view.ts_recv).count()) / 1e3;
  };
  want["since_last"] = std::log(1 + micros(t - 1, t));
  const auto depth = [&](std::size_t i, std::int64_t levels) {
    double sum = 0;
    for (std::int64_t m = 0; m < levels; ++m) {
      sum += size(all[i].view.bids[static_cast<std::size_t>(m)]) +
             size(all[i].view.asks[static_cast<std::size_t>(m)]);
    }
    return sum;
  };
  for (const std::int64_t levels : config.levels) {
    double more = 0;
    for (std::int64_t m = 0; m < levels; ++m) {
      more +=
          size(now.bids[static_cast<std::size_t>(m)]) - size(now.asks[static_cast<std::size_t>(m)]);
    }
    want["imbalance_" + std::to_string(levels)] = more / depth(t, levels);
  }
  for (const std::int64_t span : config.spans) {
    const std::string n = "_" + std::to_string(span);
    const auto first = t + 1 - static_cast<std::size_t>(span);
    std::map<std::int64_t, double> flow, depths;
    double bought = 0, traded = 0, adds = 0, cancels = 0, lost_bid = 0, lost_ask = 0, squares = 0;
    for (std::size_t i = first; i <= t; ++i) {
      const DepthView& a = all[i - 1].view;
      const DepthView& b = all[i].view;
      for (const std::int64_t levels : config.levels) {
        depths[levels] += depth(i, levels);
        for (std::size_t m = 0; m < static_cast<std::size_t>(levels); ++m) {
          const double b0 = px(a.bids[m], -inf), b1 = px(b.bids[m], -inf);
          const double a0 = px(a.asks[m], inf), a1 = px(b.asks[m], inf);
          flow[levels] += (b1 >= b0 ? size(b.bids[m]) : 0) - (b1 <= b0 ? size(a.bids[m]) : 0) -
                          (a1 <= a0 ? size(b.asks[m]) : 0) + (a1 >= a0 ? size(a.asks[m]) : 0);
        }
      }
      const double b0 = px(a.bids[0], 0), b1 = px(b.bids[0], 0);
      const double a0 = px(a.asks[0], 0), a1 = px(b.asks[0], 0);
      if (b1 < b0) lost_bid += size(a.bids[0]);
      if (b1 == b0) lost_bid += std::max(0.0, size(a.bids[0]) - size(b.bids[0]));
      if (a1 > a0) lost_ask += size(a.asks[0]);
      if (a1 == a0) lost_ask += std::max(0.0, size(a.asks[0]) - size(b.asks[0]));
      squares += std::pow((b1 + a1 - b0 - a0) / 2, 2);
      const EventTally& y = all[i].tally;
      bought += static_cast<double>(y.bought - y.sold);
      traded += static_cast<double>(y.bought + y.sold + y.unsided);
      adds += static_cast<double>(y.adds);
      if (y.fills == 0) cancels += static_cast<double>(y.cancels);
    }
    const auto count = static_cast<double>(span);
    for (const std::int64_t levels : config.levels) {
      want["ofi_" + std::to_string(levels) + n] = flow[levels] / (depths[levels] / (2 * count));
    }
    want["flow" + n] = traded == 0 ? 0 : bought / traded;
    want["volume" + n] = std::log(1 + traded);
    want["adds" + n] = adds / count;
    want["cancels" + n] = cancels / count;
    want["depleted_bid" + n] = lost_bid / (depths[1] / (2 * count));
    want["depleted_ask" + n] = lost_ask / (depths[1] / (2 * count));
    want["vol" + n] = std::sqrt(squares / count);
    want["time" + n] = std::log(1 + micros(first - 1, t));
  }
  return want;
}

TEST(BookRows, EqualTheOracleFromRawViews) {
  Rng rng(4);
  BookFeatureConfig config;
  config.levels = {1, 3, 10};
  config.spans = {1, 7, 40};
  BookRows rows(config, kTick, std::nullopt);
  std::vector<float> row(static_cast<std::size_t>(rows.width()));
  std::vector<Event> so_far;
  int compared = 0;
  for (const Event& e : random_events(rng, 400)) {
    so_far.push_back(e);
    const BookPush push = rows.take(&e.view, e.tally, row);
    ASSERT_EQ(push.status == BookStatus::kCrossed, e.view.is_crossed() || e.view.is_locked());
    ASSERT_EQ(push.starts_sequence, so_far.size() == 1);
    if (push.status != BookStatus::kReady) continue;
    ASSERT_GE(so_far.size(), 41U);
    const auto want = oracle(config, so_far);
    const auto got = named(rows, row);
    ASSERT_EQ(got.size(), want.size());
    for (const auto& [name, value] : want) {
      // One rounding to float32, and the oracle's own in float64.
      ASSERT_NEAR(got.at(name), value, 1e-6 * std::max(1.0, std::abs(value))) << name;
    }
    ++compared;
  }
  EXPECT_GT(compared, 300);
  EXPECT_GT(rows.count(BookStatus::kCrossed), 5);
}

TEST(BookRows, SayWhyThereIsNoRow) {
  BookRows rows(small(), kTick, market::Calendar::for_product("ES"));
  std::vector<float> row(static_cast<std::size_t>(rows.width()));
  std::int64_t micros = 0;
  const auto take = [&](auto change) {
    Event e = make_event(micros += 100, {{100, 10}}, {{101, 6}});
    change(e);
    return rows.take(&e.view, e.tally, row);
  };
  const auto plain = [](Event&) {};
  const auto warm = [&] {
    take(plain), take(plain);
    EXPECT_EQ(take(plain).status, BookStatus::kReady);
  };
  warm();
  EXPECT_EQ(rows.take(nullptr, {}, row).status, BookStatus::kNoBook);
  EXPECT_TRUE(take(plain).starts_sequence);
  warm();
  EXPECT_EQ(take([](Event& e) { e.view.asks = {}; }).status, BookStatus::kNoBook);
  warm();
  EXPECT_EQ(take([](Event& e) { e.view.quality.maybe_bad_book = true; }).status,
            BookStatus::kBadFeed);
  EXPECT_TRUE(take(plain).starts_sequence);
  warm();
  // A time that is not to be trusted, though far away: no row, no new sequence.
  EXPECT_EQ(take([](Event& e) {
              e.view.quality.bad_ts_recv = true;
              e.view.ts_recv += std::chrono::hours{90};
            }).status,
            BookStatus::kBadFeed);
  EXPECT_EQ(take(plain).status, BookStatus::kReady);
  EXPECT_EQ(take([](Event& e) { e.view.bids[0].price.nano += 1; }).status, BookStatus::kBadValue);
  warm();
  EXPECT_EQ(take([](Event& e) { e.view.bids[1].size = std::int64_t{1} << 41U; }).status,
            BookStatus::kBadValue);
  warm();
  EXPECT_EQ(take([](Event& e) { e.view.asks[1].size = -1; }).status, BookStatus::kBadValue);
  warm();
  EXPECT_EQ(take([](Event& e) { e.tally.bought = std::int64_t{1} << 48U; }).status,
            BookStatus::kBadValue);
  warm();
  EXPECT_TRUE(take([](Event& e) { e.tally.restart = true; }).starts_sequence);
  warm();
  micros += std::int64_t{1801} * 1'000'000;  // a hole
  EXPECT_TRUE(take(plain).starts_sequence);
  warm();
  EXPECT_EQ(take([](Event& e) { e.view.ts_recv -= std::chrono::seconds{1}; }).status,
            BookStatus::kReady);
  EXPECT_EQ(rows.steps_back(), 1);
  micros += std::int64_t{22 * 3600} * 1'000'000 + 1'800'000'000;  // the daily break, from 22:00
  EXPECT_EQ(take(plain).status, BookStatus::kClosed);
  micros += std::int64_t{3600} * 1'000'000;
  EXPECT_TRUE(take(plain).starts_sequence);
  EXPECT_EQ(to_string(rows.session().trade_date), "2023-12-27");
}

/// What a view holds behind the last level in use changes no bit of rows or state.
TEST(BookRows, LookAtNoLevelBehindTheLastInUse) {
  Rng rng(12);
  BookRows rows(small(), kTick, std::nullopt);
  BookRows other(small(), kTick, std::nullopt);
  ASSERT_EQ(rows.levels(), 2U);
  std::vector<float> row(static_cast<std::size_t>(rows.width()));
  std::vector<float> other_row(row.size());
  for (Event e : random_events(rng, 300)) {
    const BookPush push = rows.take(&e.view, e.tally, row);
    for (std::size_t m = 2; m < DepthView::kLevels; ++m) {
      e.view.bids[m] = {Price{static_cast<std::int64_t>(rng.below(1000))}, -5, 9};
      e.view.asks[m] = {Price::null(), std::int64_t{1} << 60U, 1};
    }
    ASSERT_EQ(other.take(&e.view, e.tally, other_row).status, push.status);
    ASSERT_EQ(other_row, row);
    ByteWriter bytes;
    ByteWriter other_bytes;
    rows.save(bytes);
    other.save(other_bytes);
    ASSERT_EQ(other_bytes.bytes(), bytes.bytes());
    ByteReader from(other_bytes.bytes(), "a.state");
    rows.restore(from);
  }
  EXPECT_GT(rows.count(BookStatus::kReady), 250);
}

TEST(BookRows, GiveRowsAfterTheEventsThatTheConfigurationWants) {
  Rng rng(9);
  const std::vector<Event> events = random_events(rng, 300);
  std::map<BookSample, std::vector<std::size_t>> ready;
  for (const BookSample sample :
       {BookSample::kEvent, BookSample::kTop, BookSample::kTrade, BookSample::kEveryN}) {
    BookFeatureConfig config = small();
    config.sample = sample;
    config.sample_every = 7;
    BookRows rows(config, kTick, std::nullopt);
    std::vector<float> row(static_cast<std::size_t>(rows.width()));
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (rows.take(&events[i].view, events[i].tally, row).status == BookStatus::kReady)
        ready[sample].push_back(i);
    }
  }
  std::vector<std::size_t> trades, tops, seventh;
  for (const std::size_t i : ready[BookSample::kEvent]) {
    if (events[i].tally.trades > 0) trades.push_back(i);
    if (events[i].view.bids[0] != events[i - 1].view.bids[0] ||
        events[i].view.asks[0] != events[i - 1].view.asks[0])
      tops.push_back(i);
    if ((i + 1) % 7 == 0) seventh.push_back(i);
  }
  EXPECT_GT(ready[BookSample::kEvent].size(), 250U);
  EXPECT_EQ(ready[BookSample::kTrade], trades);
  EXPECT_EQ(ready[BookSample::kTop], tops);
  EXPECT_EQ(ready[BookSample::kEveryN], seventh);
}

TEST(BookRows, RefuseAConfigurationWithAllThatIsWrong) {
  BookFeatureConfig config;
  config.levels = {2, 2};
  config.spans = {};
  try {
    BookRows(config, Price{0}, std::nullopt);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("levels = [2, 2]"));
    EXPECT_THAT(error.what(), HasSubstr("levels begins with 2"));
    EXPECT_THAT(error.what(), HasSubstr("spans is empty"));
    EXPECT_THAT(error.what(), HasSubstr("no tick"));
  }
  BookRows rows(small(), kTick, std::nullopt);
  std::vector<float> row(3);
  EXPECT_THROW(rows.take(nullptr, {}, row), ShapeError);
}

}  // namespace
}  // namespace foxhunt::features
