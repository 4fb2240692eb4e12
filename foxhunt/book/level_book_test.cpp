// Books of levels: updates, the chain of diffs (pitfall 36), and recorded feeds of Binance.
#include "foxhunt/book/level_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/book/binance_feed.h"
#include "foxhunt/market/byte_source.h"
#include "foxhunt/market/gzip_source.h"

namespace foxhunt::book {
namespace {

using market::Side;
using testing::HasSubstr;

TEST(LevelBook, EqualsAMapAfterEveryUpdate) {
  Rng rng(1);
  LevelBook book({}, 4);
  std::map<std::int64_t, std::int64_t> bids;
  std::map<std::int64_t, std::int64_t> asks;
  book.snapshot({}, 0, {}, {});
  for (std::uint64_t i = 1; i <= 5000; ++i) {
    const Side side = rng.below(2) == 0 ? Side::kBid : Side::kAsk;
    const auto price = static_cast<std::int64_t>(rng.below(200)) - 100;
    const auto size = static_cast<std::int64_t>(rng.below(3));
    const LevelUpdate update{side, Price{price}, size};
    ASSERT_TRUE(book.diff({&update, 1}, i, i, i - 1, {}, {}));
    auto& prices = side == Side::kBid ? bids : asks;
    prices[price] = size;
    if (size == 0) prices.erase(price);
    ASSERT_EQ(book.levels(Side::kBid), bids.size());
    ASSERT_EQ(book.levels(Side::kAsk), asks.size());
    std::size_t rank = bids.size();
    for (const auto& [p, s] : bids)
      ASSERT_EQ(book.level(Side::kBid, --rank), (Level{Price{p}, s, 0}));
    for (const auto& [p, s] : asks)
      ASSERT_EQ(book.level(Side::kAsk, rank++), (Level{Price{p}, s, 0}));
  }
}

TEST(Pitfall36, ALostDiffIsFoundAndTheBookInvalidUntilTheNextSnapshot) {
  LevelBook book({});
  DepthView view;
  const LevelUpdate levels[] = {{Side::kBid, Price{100}, 5}, {Side::kAsk, Price{101}, 6}};
  const LevelUpdate more[] = {{Side::kBid, Price{100}, 7}};
  const auto diff = [&](std::uint64_t first, std::uint64_t last, std::uint64_t previous) {
    return book.diff(more, first, last, previous, {}, {});
  };
  EXPECT_FALSE(diff(1, 5, 0)) << "before the first snapshot";
  book.snapshot(levels, 10, {}, {});
  ASSERT_TRUE(book.view(view));
  EXPECT_FALSE(diff(6, 10, 5)) << "older than the snapshot";
  EXPECT_EQ(book.level(Side::kBid, 0).size, 5);
  EXPECT_TRUE(diff(9, 12, 8)) << "reaches over it";
  EXPECT_TRUE(diff(14, 15, 12));
  EXPECT_EQ(book.level(Side::kBid, 0).size, 7);
  EXPECT_FALSE(diff(20, 22, 19)) << "16 to 19 are lost";
  EXPECT_FALSE(book.view(view));
  EXPECT_FALSE(diff(23, 24, 22)) << "and a chain behind it does not help";
  book.snapshot(levels, 30, {}, {});
  EXPECT_TRUE(book.view(view));
  EXPECT_FALSE(diff(33, 35, 32)) << "nor one that begins behind the snapshot";
  const LevelCounters& c = book.counters();
  EXPECT_EQ(c.gaps, 2);
  EXPECT_EQ(c.early, 2);
  EXPECT_EQ(c.stale, 1);
  EXPECT_EQ(c.diffs, c.applied + c.stale + c.early + c.gaps);
}

TEST(BinanceFeed, SaysWhatIsWrongWithALine) {
  LevelBook book({});
  BinanceFeed feed(book, "a.gz");
  const auto refusal = [&feed](const std::string& line) -> std::string {
    try {
      feed.line(line);
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(R"(5 {"e":"trade"})"), "");
  EXPECT_THAT(refusal("x"), HasSubstr("a.gz: line 2"));
  EXPECT_THAT(refusal(R"(5 {"lastUpdateId":1,)"), HasSubstr("JSON"));
  EXPECT_THAT(refusal(R"(5 {"lastUpdateId":1,"T":-1})"), HasSubstr("'T'"));
  EXPECT_THAT(refusal(R"(5 {"lastUpdateId":1,"T":1,"bids":5})"), HasSubstr("'bids'"));
  EXPECT_THAT(refusal(R"(5 {"lastUpdateId":1,"T":1,"bids":[["1.x","1"]]})"), HasSubstr("1.x"));
  EXPECT_THAT(refusal(R"(5 {"lastUpdateId":1,"T":1,"bids":[["1","0.000000001"]]})"),
              HasSubstr("eight"));
  EXPECT_FALSE(book.ready());
  EXPECT_EQ(refusal(R"(5 {"lastUpdateId":1,"T":1,"bids":[["1.5","0.25"]],"asks":[]})"), "");
  EXPECT_EQ(book.level(Side::kBid, 0), (Level{Price{1'500'000'000}, 25'000'000, 0}));
}

/// So many lines of a file; false where there is no such file.
bool replay(BinanceFeed& feed, const std::string& name, std::int64_t most) {
  const char* shared = std::getenv("FOXHUNT_SHARED");  // NOLINT(concurrency-mt-unsafe)
  const auto path =
      std::filesystem::path(shared == nullptr ? "" : shared) / "data/lob/hftbacktest" / name;
  if (!std::filesystem::exists(path)) return false;
  const auto source = market::gunzip(market::open_bytes(path));
  std::string rest;
  std::string part(std::size_t{1} << 16U, '\0');
  while (const std::size_t n = source->read(std::as_writable_bytes(std::span(part)))) {
    rest.append(part, 0, n);
    std::size_t from = 0;
    for (std::size_t end = 0; (end = rest.find('\n', from)) != std::string::npos; from = end + 1) {
      if (most-- == 0) return true;
      feed.line(std::string_view(rest).substr(from, end - from));
    }
    rest.erase(0, from);
  }
  EXPECT_TRUE(rest.empty());
  return true;
}

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

/// The first lines, to what a few lines of Python over dictionaries find in them.
TEST(BinanceFeed, RebuildsTheBeginningOfTwoMarkets) {
  LevelBook usdm({});
  BinanceFeed feed(usdm, "usdm");
  if (!replay(feed, "usdm/btcusdt_20240808.gz", 6000))
    GTEST_SKIP() << "no Binance feed in FOXHUNT_SHARED";
  EXPECT_EQ(feed.counters().lines, 6000);
  EXPECT_EQ(feed.counters().diffs, 489);
  EXPECT_EQ(feed.counters().updates, 28'995);
  EXPECT_EQ(feed.counters().others, 5510);
  EXPECT_EQ(usdm.counters().applied, 485);
  EXPECT_EQ(usdm.counters().stale, 4);
  EXPECT_EQ(usdm.counters().gaps, 0);
  EXPECT_EQ(usdm.level(Side::kBid, 0), (Level{Price{61'827'900'000'000}, 576'900'000, 0}));
  EXPECT_EQ(usdm.level(Side::kAsk, 0), (Level{Price{61'828'000'000'000}, 281'000'000, 0}));
  EXPECT_EQ(usdm.levels(Side::kBid), 1861U);
  EXPECT_EQ(usdm.levels(Side::kAsk), 1500U);

  LevelBook coinm({});
  BinanceFeed other(coinm, "coinm");
  replay(other, "cm/btcusd_perp_20240808.gz", 4000);
  EXPECT_EQ(other.counters().updates, 21'718);
  EXPECT_EQ(coinm.counters().applied, 2174);
  EXPECT_EQ(coinm.counters().stale, 23);
  EXPECT_EQ(coinm.level(Side::kBid, 0), (Level{Price{61'838'900'000'000}, 4'200'000'000, 0}));
  EXPECT_EQ(coinm.level(Side::kAsk, 0), (Level{Price{61'839'000'000'000}, 142'200'000'000, 0}));
  EXPECT_EQ(coinm.levels(Side::kBid), 1140U);
  EXPECT_EQ(coinm.levels(Side::kAsk), 1064U);
}

TEST(BinanceFeed, LongRebuildsUsdMarginedBitcoin) {
  LevelBook book({});
  BinanceFeed feed(book, "usdm");
  if (!replay(feed, "usdm/btcusdt_20240808.gz", kAll))
    GTEST_SKIP() << "no Binance feed in FOXHUNT_SHARED";
  EXPECT_EQ(feed.counters().lines, 93'954);
  EXPECT_EQ(feed.counters().diffs, 6'551);
  EXPECT_EQ(feed.counters().updates, 443'521);
  EXPECT_EQ(feed.counters().snapshots, 1);
  EXPECT_EQ(book.counters().gaps, 0);
  EXPECT_EQ(book.counters().bad_value, 0);
  EXPECT_EQ(book.counters().crossed + book.counters().locked, 0);
  EXPECT_GT(book.counters().applied, 6'500);
  EXPECT_EQ(book.counters().applied + book.counters().stale, 6'551);
  EXPECT_TRUE(book.ready());
}

TEST(BinanceFeed, LongRebuildsCoinMarginedBitcoinOverTheBorderOfTwoFiles) {
  LevelBook book({});
  BinanceFeed feed(book, "coinm");
  if (!replay(feed, "cm/btcusd_perp_20240808.gz", kAll))
    GTEST_SKIP() << "no Binance feed in FOXHUNT_SHARED";
  replay(feed, "cm/btcusd_perp_20240809.gz", kAll);
  EXPECT_EQ(feed.counters().diffs, 44'795);
  EXPECT_EQ(book.counters().gaps, 0);
  EXPECT_EQ(book.counters().crossed + book.counters().locked, 0);
  EXPECT_TRUE(book.ready());
}

std::string diff_line(int first, int last, int previous, int size) {
  return "7 {\"data\":{\"e\":\"depthUpdate\",\"T\":1,\"U\":" + std::to_string(first) +
         ",\"u\":" + std::to_string(last) + ",\"pu\":" + std::to_string(previous) +
         ",\"b\":[[\"100\",\"" + std::to_string(size) + "\"]],\"a\":[]}}";
}
std::string snapshot_line(int last) {
  return "7 {\"lastUpdateId\":" + std::to_string(last) +
         ",\"T\":1,\"bids\":[[\"100\",\"1\"]],\"asks\":[[\"101\",\"1\"]]}";
}

TEST(BinanceFeed, HoldsDiffsForASnapshotThatComesLate) {
  LevelBook book({});
  BinanceFeed feed(book, "a.gz");
  const auto size = [&book] { return book.level(Side::kBid, 0).size / 100'000'000; };
  EXPECT_FALSE(feed.line(diff_line(1, 5, 0, 5)));
  EXPECT_FALSE(feed.line(diff_line(6, 9, 5, 6)));
  EXPECT_FALSE(feed.line(diff_line(10, 12, 9, 7)));
  EXPECT_FALSE(book.ready());
  EXPECT_TRUE(feed.line(snapshot_line(7)));
  EXPECT_EQ(size(), 7) << "6 reaches over the snapshot, 7 follows";
  EXPECT_EQ(book.counters().stale, 1);
  EXPECT_FALSE(feed.line(snapshot_line(8))) << "older than the book";
  EXPECT_EQ(size(), 7);
  EXPECT_EQ(feed.counters().late_snapshots, 1);

  EXPECT_FALSE(feed.line(diff_line(20, 22, 19, 8))) << "a planted gap";
  EXPECT_FALSE(book.ready());
  EXPECT_FALSE(feed.line(diff_line(23, 24, 22, 9)));
  EXPECT_TRUE(feed.line(snapshot_line(22)));
  EXPECT_TRUE(book.ready());
  EXPECT_EQ(size(), 9);
  EXPECT_EQ(book.counters().gaps, 1);
  EXPECT_TRUE(feed.line(snapshot_line(24))) << "as old as the book";
  EXPECT_EQ(size(), 1);
}

TEST(BinanceFeed, KeepsHeldDiffsBehindAGapForTheNextSnapshot) {
  LevelBook book({});
  BinanceFeed feed(book, "a.gz");
  feed.line(diff_line(1, 5, 0, 5));
  feed.line(diff_line(20, 22, 19, 8));
  feed.line(diff_line(23, 24, 22, 9));
  feed.line(snapshot_line(5));
  EXPECT_FALSE(book.ready());
  EXPECT_EQ(book.counters().gaps, 1);
  feed.line(snapshot_line(19));
  EXPECT_TRUE(book.ready());
  EXPECT_EQ(book.last_id(), 24U);
}

TEST(BinanceFeed, HoldsTheLatestDiffsWhereThereIsNoRoomForAll) {
  LevelBook book({});
  BinanceFeed feed(book, "a.gz");
  for (int id = 1; id <= 4098; ++id) feed.line(diff_line(id, id, id - 1, 5));
  EXPECT_EQ(feed.counters().dropped, 2);
  feed.line(snapshot_line(2));
  EXPECT_TRUE(book.ready());
  EXPECT_EQ(book.last_id(), 4098U);
}

}  // namespace
}  // namespace foxhunt::book
