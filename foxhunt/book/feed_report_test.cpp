// Recorded feeds of several venues, their lines, and what is reported of them. Values of whole
// files: what a few lines of Python over dictionaries find in them.
#include "foxhunt/book/feed_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/number_text.h"
#include "foxhunt/book/bitstamp_feed.h"
#include "foxhunt/book/feed_text.h"
#include "foxhunt/book/hyperliquid_feed.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::book {
namespace {

using market::Side;
using testing::HasSubstr;

constexpr const char* kHeader = "id,timestamp,exchange.timestamp,price,volume,action,direction";

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const FormatError& error) {
    return error.what();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(BitstampFeed, AddsChangesAndTakesOutOrders) {
  OrderBook book({});
  BitstampFeed feed(book, "a.csv");
  EXPECT_FALSE(feed.line(kHeader));
  EXPECT_TRUE(feed.line("7,2000,1000,236.47,200000000,created,bid"));
  EXPECT_TRUE(feed.line("8,2001,1000,236.5,5,created,ask\r"));
  EXPECT_TRUE(feed.line("7,2002,1001,236.47,150000000,changed,bid"));
  DepthView view;
  ASSERT_TRUE(book.view(view));
  EXPECT_EQ(view.bids[0], (Level{Price{236'470'000'000}, 150'000'000, 1}));
  EXPECT_EQ(view.asks[0], (Level{Price{236'500'000'000}, 5, 1}));
  EXPECT_EQ(count(view.ts_event), 1'001'000'000);
  EXPECT_EQ(count(view.ts_recv), 2'002'000'000);
  EXPECT_EQ(view.sequence, 3U);
  EXPECT_TRUE(feed.line("7,2001,1002,236.47,9,deleted,bid")) << "in whole, whatever rest it names";
  EXPECT_EQ(book.levels(Side::kBid), 0U);
  EXPECT_TRUE(feed.line("3,2003,1002,236.4,0,deleted,bid")) << "from before the recording";
  EXPECT_TRUE(feed.line("4,2004,1002,236.4,6,changed,bid"));
  EXPECT_EQ(book.counters().unknown_cancel, 1);
  EXPECT_EQ(book.counters().unknown_modify, 1);
  EXPECT_EQ(book.orders(), 2U);
  const BitstampCounters& c = feed.counters();
  EXPECT_EQ(c.rows, 6);
  EXPECT_EQ(c.created, 2);
  EXPECT_EQ(c.changed, 2);
  EXPECT_EQ(c.deleted, 2);
  EXPECT_EQ(c.steps_back, 1);
}

TEST(BitstampFeed, SaysWhatIsWrongWithALine) {
  OrderBook book({});
  EXPECT_THAT(refusal([&] { BitstampFeed(book, "a.csv").line("id,price"); }),
              HasSubstr("a.csv: line 1: the header"));
  BitstampFeed feed(book, "a.csv");
  feed.line(kHeader);
  for (const auto& [line, what] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", "1 fields"},
           {"1,2,3,4,5,created", "6 fields"},
           {"1,2,3,4,5,created,bid,", "8 fields"},
           {"-1,2,3,4,5,created,bid", "'-1'"},
           {"1,9223372036854775807,3,4,5,created,bid", "milliseconds"},
           {"1,2,x,4,5,created,bid", "'x'"},
           {"1,2,3,4..,5,created,bid", "'4..'"},
           {"1,2,3,,5,created,bid", "an empty price"},
           {"1,2,3,4,5.5,created,bid", "'5.5'"},
           {"1,2,3,4,5,made,bid", "'made'"},
           {"1,2,3,4,5,created,buy", "'buy'"}}) {
    EXPECT_THAT(refusal([&, text = line] { feed.line(text); }), HasSubstr(what)) << line;
  }
  EXPECT_EQ(book.counters().events, 0);
  EXPECT_EQ(feed.counters().rows, 0);
}

std::string l2(const std::string& bids, const std::string& asks) {
  return R"(5000000 {"channel":"l2Book","data":{"coin":"BTC","time":3,"levels":[[)" + bids + "],[" +
         asks + "]]}}";
}

TEST(HyperliquidFeed, TakesEachSnapshotAsTheWholeBook) {
  HyperliquidFeed feed({.publisher_id = 1, .instrument_id = 2}, "a");
  EXPECT_TRUE(feed.line(l2(R"({"px":"10.5","sz":"0.25","n":3},{"px":"10","sz":"2","n":1})",
                           R"({"px":"11","sz":"1","n":2})")));
  DepthView want{.instrument = {.publisher_id = 1, .instrument_id = 2},
                 .ts_event = from_nanos(3'000'000),
                 .ts_recv = from_nanos(5'000'000),
                 .sequence = 1};
  want.bids[0] = {Price{10'500'000'000}, 25'000'000, 3};
  want.bids[1] = {Price{10'000'000'000}, 200'000'000, 1};
  want.asks[0] = {Price{11'000'000'000}, 100'000'000, 2};
  EXPECT_EQ(feed.view(), want);
  EXPECT_TRUE(feed.line(l2(R"({"px":"10","sz":"1","n":1},{"px":"10","sz":"1","n":1})", "")));
  EXPECT_EQ(feed.counters().out_of_order, 1) << "two levels of one price";
  EXPECT_TRUE(feed.view().asks[0].is_empty());
  EXPECT_FALSE(feed.line(R"(6 {"channel":"trades","data":[]})"));
  EXPECT_FALSE(feed.line(R"(6 {"channel":"pong"})"));
  EXPECT_TRUE(feed.line(l2(R"({"px":"12","sz":"1","n":1})", R"({"px":"11","sz":"1","n":1})")));
  EXPECT_TRUE(feed.line(l2(R"({"px":"11","sz":"1","n":1})", R"({"px":"11","sz":"1","n":1})")));
  EXPECT_EQ(feed.counters().crossed, 1);
  EXPECT_EQ(feed.counters().locked, 1);
  EXPECT_EQ(feed.counters().snapshots, 4);
  EXPECT_EQ(feed.counters().trade_messages, 1);
  EXPECT_EQ(feed.counters().others, 1);
}

TEST(HyperliquidFeed, SaysWhatIsWrongWithALine) {
  HyperliquidFeed feed({}, "a");
  const auto of = [&feed](const std::string& line) { return refusal([&] { feed.line(line); }); };
  EXPECT_THAT(of("x"), HasSubstr("a: line 1: does not begin with a time"));
  EXPECT_THAT(of("5 {"), HasSubstr("line 2: is not JSON"));
  EXPECT_THAT(of("5 []"), HasSubstr("'channel'"));
  EXPECT_THAT(of(R"(5 {"channel":"l2Book","data":7})"), HasSubstr("'time'"));
  EXPECT_THAT(of(R"(5 {"channel":"l2Book","data":{"time":1,"levels":[[]]}})"),
              HasSubstr("'levels'"));
  EXPECT_THAT(of(l2("7", "")), HasSubstr("'px'"));
  EXPECT_THAT(of(l2(R"({"px":"x","sz":"1"})", "")), HasSubstr("'x'"));
  EXPECT_THAT(of(l2(R"({"px":"1","sz":"0"})", "")), HasSubstr("without size"));
  EXPECT_THAT(of(l2(R"({"px":"1","sz":"0.000000001"})", "")), HasSubstr("eight"));
  EXPECT_THAT(of(l2(R"({"px":"1","sz":"1","n":-1})", "")), HasSubstr("'n'"));
  EXPECT_EQ(feed.view(), DepthView{});
}

TEST(FeedText, WritesPricesExactly) {
  EXPECT_EQ(decimal_text(Price{4'810'250'000'000}), "4810.25");
  EXPECT_EQ(decimal_text(Price{-1}), "-0.000000001");
  EXPECT_EQ(decimal_text(Price{0}), "0");
  EXPECT_EQ(decimal_text(Price{100'000'000'000}), "100");
  EXPECT_EQ(decimal_text(Price{std::numeric_limits<std::int64_t>::min()}), "-9223372036.854775808");
  EXPECT_EQ(decimal_text(Price::null()), "");
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(FeedReport, WritesTheViewsOfLevels) {
  const market::test::TempFolder folder;
  const FeedReport report = read_feed(market::test::fixture("test_data.mbp-10.v3.dbn.zst"),
                                      {.levels = 2, .out = folder / "views.csv"});
  EXPECT_EQ(report.views, 2);
  EXPECT_EQ(report.written, 2);
  EXPECT_EQ(report.count_of("records of levels"), 2);
  ASSERT_EQ(report.last.size(), 1U);
  EXPECT_EQ(text_of(folder / "views.csv"),
            "ts_recv,ts_event,publisher_id,instrument_id,sequence,maybe_bad_book,bad_ts_recv,"
            "bid_px_00,bid_sz_00,bid_ct_00,ask_px_00,ask_sz_00,ask_ct_00,"
            "bid_px_01,bid_sz_01,bid_ct_01,ask_px_01,ask_sz_01,ask_ct_01\n"
            "1609160400000704060,1609160400000429831,1,5482,1170352,0,0,"
            "3720.25,24,15,3720.5,10,8,3720,31,18,3720.75,34,24\n"
            "1609160400000750544,1609160400000435673,1,5482,1170356,0,0,"
            "3720.25,24,15,3720.5,10,8,3720,30,17,3720.75,34,24\n");
  const auto json = nlohmann::json::parse(report.to_json());
  EXPECT_EQ(json["views"], 2);
  EXPECT_EQ(json["books"][0]["bids"][1]["size"], 30);
  EXPECT_EQ(json["books"][0]["asks"].size(), 2U);
  EXPECT_THAT(report.to_text(), HasSubstr("instrument 5482 of publisher 1"));
  // Orders without the snapshot that they follow: no book, and that is said.
  const FeedReport orders = read_feed(market::test::fixture("test_data.mbo.v3.dbn"), {});
  EXPECT_EQ(orders.views, 0);
  EXPECT_EQ(orders.count_of("records"), 2);
  EXPECT_TRUE(orders.last.empty());
}

TEST(FeedReport, ReadsLinesWithAndWithoutAnEndAndWritesEachSoManyth) {
  const market::test::TempFolder folder;
  const auto path = folder / "a.csv";
  std::ofstream(path) << kHeader << "\n1,1,1,5,3,created,bid\n2,2,2,6,4,created,ask\n"
                      << "3,3,3,4,1,created,bid\n1,4,4,5,0,deleted,bid";
  const FeedReport report = read_feed(
      path, {.feed = FeedKind::kBitstamp, .every = 2, .levels = 1, .out = folder / "views.csv"});
  EXPECT_EQ(report.views, 4);
  EXPECT_EQ(report.written, 2);
  EXPECT_EQ(report.last.at(0).bids[0], (Level{Price{4'000'000'000}, 1, 1}));
  const std::string text = text_of(folder / "views.csv");
  EXPECT_THAT(text, HasSubstr("\n1000000,1000000,0,0,1,0,0,5,3,1,,0,0\n"));
  EXPECT_THAT(text, HasSubstr("\n3000000,3000000,0,0,3,0,0,5,3,1,6,4,1\n"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
  EXPECT_THAT(refusal([&] { read_feed(path, {.every = 0}); }), HasSubstr("every = 0"));
  EXPECT_THAT(refusal([&] { read_feed(path, {.levels = 11}); }), HasSubstr("levels = 11"));
  // What goes wrong on the way leaves no file.
  std::ofstream(path, std::ios::app) << "\nnonsense\n";
  EXPECT_THAT(
      refusal([&] { read_feed(path, {.feed = FeedKind::kBitstamp, .out = folder / "other.csv"}); }),
      HasSubstr("line 6"));
  EXPECT_EQ(folder.entries(), 2);
}

std::filesystem::path recorded(const char* name) {
  return market::test::shared_folder() / "data/lob" / name;
}

TEST(FeedReport, OfBitstampHoldsEveryRow) {
  const auto path = recorded("bitstamp/orders.csv.xz");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no Bitstamp file below FOXHUNT_SHARED";
  const FeedReport report = read_feed(path, {.feed = FeedKind::kBitstamp});
  EXPECT_EQ(report.count_of("rows"), 50'414);
  EXPECT_EQ(report.count_of("created"), 24'894);
  EXPECT_EQ(report.count_of("changed"), 602);
  EXPECT_EQ(report.count_of("deleted"), 24'918);
  EXPECT_EQ(report.count_of("steps back"), 0);
  EXPECT_EQ(report.count_of("cancels of unknown orders"), 205) << "from before the recording";
  EXPECT_EQ(report.count_of("modifies of unknown orders"), 4);
  EXPECT_EQ(report.count_of("duplicate adds"), 0);
  EXPECT_EQ(report.count_of("with bad values"), 0);
  EXPECT_EQ(report.count_of("crossed"), 19'671) << "orders whose end is not in the recording";
  EXPECT_EQ(report.count_of("locked"), 148);
  EXPECT_FALSE(report.truncated);
  ASSERT_EQ(report.last.size(), 1U);
  EXPECT_EQ(report.last[0].bids[0], (Level{Price{238'990'000'000}, 223'414'920, 1}));
  EXPECT_EQ(report.last[0].asks[0], (Level{Price{235'710'000'000}, 770'191'607, 2}));
  EXPECT_EQ(to_string(report.last[0].ts_recv).substr(0, 19), "2015-05-01T05:04:42");
}

TEST(FeedReport, OfHyperliquidHoldsEverySnapshot) {
  const auto path = recorded("hftbacktest/hyperliquid/btcusd_20250126.gz");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no Hyperliquid file below FOXHUNT_SHARED";
  const FeedReport report = read_feed(path, {.feed = FeedKind::kHyperliquid});
  EXPECT_EQ(report.count_of("snapshots"), 46);
  EXPECT_EQ(report.count_of("messages of trades"), 9);
  EXPECT_EQ(report.count_of("other messages"), 0);
  EXPECT_EQ(report.count_of("levels"), 46 * 40);
  EXPECT_EQ(report.count_of("snapshots out of order"), 0);
  EXPECT_EQ(report.count_of("crossed") + report.count_of("locked"), 0);
  EXPECT_EQ(report.views, 46);
  ASSERT_EQ(report.last.size(), 1U);
  const DepthView& view = report.last[0];
  EXPECT_EQ(view.bids[0], (Level{Price{105'050'000'000'000}, 112'931'000, 12}));
  EXPECT_EQ(view.asks[0], (Level{Price{105'051'000'000'000}, 613'423'000, 12}));
  EXPECT_EQ(view.bids[9], (Level{Price{105'037'000'000'000}, 71'403'000, 1}));
  EXPECT_EQ(view.asks[9], (Level{Price{105'068'000'000'000}, 34'946'000, 5}));
  EXPECT_EQ(count(view.ts_event), 1'737'918'868'877'000'000);
}

}  // namespace
}  // namespace foxhunt::book
