// Views out of levels, and that they agree with the book that the orders build.
#include "foxhunt/book/quote_view.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "foxhunt/book/order_book.h"
#include "foxhunt/book/random_orders.h"
#include "foxhunt/market/dbn_test_support.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::book {
namespace {

namespace flag = market::flag;

TEST(QuoteView, TakesLevelsAfterLastOnlyAndLeavesEmptyOnesOut) {
  std::vector<market::BookLevel> levels(12);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto away = static_cast<std::int64_t>(i);
    levels[i] = {Price{100 - away}, Price{101 + away}, 5, 6, 1, 2};
  }
  levels[1].bid = Price::null();
  levels[2].ask_size = 0;
  DepthView view;
  EXPECT_FALSE(view_of({.flags = 0}, levels, view));
  EXPECT_EQ(view, DepthView{});
  ASSERT_TRUE(view_of({.sequence = 9, .flags = flag::kLast | flag::kMaybeBadBook}, levels, view));
  EXPECT_EQ(view.bids[0], (Level{Price{100}, 5, 1}));
  EXPECT_EQ(view.bids[1], (Level{Price{98}, 5, 1}));
  EXPECT_EQ(view.asks[2], (Level{Price{104}, 6, 2}));
  EXPECT_EQ(view.bids[9].price, Price{90});
  EXPECT_EQ(view.sequence, 9U);
  EXPECT_TRUE(view.quality.maybe_bad_book);
  EXPECT_FALSE(view.quality.bad_ts_recv);
}

/// What an order book says as the levels of an mbp-10 record is the same view.
TEST(QuoteView, AgreesWithTheBookOfOrders) {
  test::RandomOrders orders(3, 250'000'000, 200, 20);
  OrderBook book(test::kKey);
  int compared = 0;
  for (int i = 0; i < 2000; ++i) {
    const market::OrderEvent e = orders.next();
    DepthView want;
    if (!book.apply(e) || !book.view(want)) {
      if (i == 0) book.clear();
      continue;
    }
    market::DepthOfBook record{.instrument = e.instrument,
                               .ts_event = e.ts_event,
                               .ts_recv = e.ts_recv,
                               .flags = e.flags,
                               .sequence = e.sequence};
    for (std::size_t m = 0; m < record.levels.size(); ++m) {
      record.levels[m] = {want.bids[m].price,
                          want.asks[m].price,
                          static_cast<std::uint32_t>(want.bids[m].size),
                          static_cast<std::uint32_t>(want.asks[m].size),
                          want.bids[m].orders,
                          want.asks[m].orders};
    }
    DepthView got;
    ASSERT_TRUE(view_of(record, got));
    got.quality = want.quality;
    // An order of the largest size is beyond the 32 bits of a record's level.
    bool fits = true;
    for (const auto& level : want.bids) fits &= level.size <= 0xFFFF'FFFF;
    for (const auto& level : want.asks) fits &= level.size <= 0xFFFF'FFFF;
    if (!fits) continue;
    ASSERT_EQ(got, want);
    record.flags = 0;
    EXPECT_FALSE(view_of(record, got)) << "inside of an event";
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

TEST(QuoteView, AnIntervalNeedsNoLast) {
  DepthView view;
  market::Quote quote{.sequence = 5, .level = {Price{100}, Price{101}, 7, 8, 2, 3}};
  ASSERT_TRUE(view_of(quote, view));
  EXPECT_EQ(view.bids[0], (Level{Price{100}, 7, 2}));
  EXPECT_EQ(view.asks[0], (Level{Price{101}, 8, 3}));
  EXPECT_EQ(view.sequence, 5U);
  EXPECT_FALSE(view.quality.bad_ts_recv);
  quote.flags = flag::kBadTsRecv;
  quote.level.ask = Price::null();
  ASSERT_TRUE(view_of(quote, view));
  EXPECT_TRUE(view.quality.bad_ts_recv);
  EXPECT_TRUE(view.asks[0].is_empty());

  market::ConsolidatedQuote best{.level = {Price{100}, Price{101}, 7, 8, 30, 31}};
  DepthView untouched = view;
  EXPECT_FALSE(view_of(best, view)) << "an event that goes on";
  EXPECT_EQ(view, untouched);
  best.span = std::chrono::seconds{1};
  ASSERT_TRUE(view_of(best, view));
  EXPECT_EQ(view.bids[0], (Level{Price{100}, 7, 0}));
  EXPECT_EQ(view.asks[0], (Level{Price{101}, 8, 0}));
  best.span = {};
  best.flags = flag::kLast | flag::kMaybeBadBook;
  ASSERT_TRUE(view_of(best, view));
  EXPECT_TRUE(view.quality.maybe_bad_book);
}

template <class Record>
std::vector<DepthView> views(const std::filesystem::path& path) {
  std::vector<DepthView> out;
  const auto reader = market::open_reader(path);
  while (const market::Record* record = reader->next()) {
    DepthView view;
    EXPECT_TRUE(view_of(std::get<Record>(*record), view));
    out.push_back(view);
  }
  return out;
}

// The official files, with values read by another program.

TEST(QuoteView, ReadsTheOfficialMbp1Fixture) {
  const auto got = views<market::TopOfBook>(market::test::fixture("test_data.mbp-1.v3.dbn.zst"));
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].bids[0], (Level{Price{3'720'250'000'000}, 24, 15}));
  EXPECT_EQ(got[0].asks[0], (Level{Price{3'720'500'000'000}, 11, 9}));
  EXPECT_TRUE(got[0].bids[1].is_empty());
}

TEST(QuoteView, ReadsTheOfficialMbp10Fixture) {
  const auto got = views<market::DepthOfBook>(market::test::fixture("test_data.mbp-10.v3.dbn.zst"));
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].bids[0], (Level{Price{3'720'250'000'000}, 24, 15}));
  EXPECT_EQ(got[0].asks[0], (Level{Price{3'720'500'000'000}, 10, 8}));
  EXPECT_EQ(got[0].bids[1], (Level{Price{3'720'000'000'000}, 31, 18}));
  EXPECT_EQ(got[0].asks[5], (Level{Price{3'721'750'000'000}, 45, 33}));
  EXPECT_EQ(got[0].sequence, 1'170'352U);
  EXPECT_EQ(count(got[0].ts_recv), 1'609'160'400'000'704'060);
  // A cancel of one at the second bid lies between the two.
  EXPECT_EQ(got[1].bids[1], (Level{Price{3'720'000'000'000}, 30, 17}));
  EXPECT_EQ(got[1].sequence, 1'170'356U);
  EXPECT_FALSE(got[1].bids[9].is_empty() || got[1].asks[9].is_empty());
}

TEST(QuoteView, ReadsTheOfficialBboAndConsolidatedFixtures) {
  const auto bbo = views<market::Quote>(market::test::fixture("test_data.bbo-1s.v3.dbn.zst"));
  ASSERT_EQ(bbo.size(), 4U);
  EXPECT_EQ(bbo[0].bids[0], (Level{Price{3'702'250'000'000}, 18, 10}));
  EXPECT_EQ(bbo[0].asks[0], (Level{Price{3'702'750'000'000}, 13, 13}));
  EXPECT_TRUE(bbo[0].quality.bad_ts_recv);
  for (const char* name : {"test_data.cbbo-1s.v3.dbn.zst", "test_data.cmbp-1.v3.dbn.zst"}) {
    const auto best = views<market::ConsolidatedQuote>(market::test::fixture(name));
    ASSERT_EQ(best.size(), 2U) << name;
    EXPECT_EQ(best[0].bids[0], (Level{Price{3'720'250'000'000}, 24, 0}));
    EXPECT_EQ(best[0].asks[0], (Level{Price{3'720'500'000'000}, 11, 0}));
  }
}

/// The first orders of a day at XNAS, and what its feed of ten levels says after each of them.
TEST(QuoteView, OfLevelsEqualsTheBookOfTheSameOrders) {
  const auto folder = market::test::shared_folder() / "data/dbn/databento-python/XNAS.ITCH";
  if (!std::filesystem::exists(folder / "test_data.mbp-10.dbn.zst")) {
    GTEST_SKIP() << "no XNAS.ITCH files below FOXHUNT_SHARED";
  }
  const auto want = views<market::DepthOfBook>(folder / "test_data.mbp-10.dbn.zst");
  const auto reader = market::open_reader(folder / "test_data.mbo.dbn.zst");
  std::optional<OrderBook> book;
  std::size_t at = 0;
  while (const market::Record* record = reader->next()) {
    const auto& order = std::get<market::OrderEvent>(*record);
    if (!book) book.emplace(order.instrument).clear();  // nothing rests before the first order
    ASSERT_TRUE(book->apply(order));
    DepthView got;
    ASSERT_TRUE(book->view(got));
    ASSERT_LT(at, want.size());
    EXPECT_EQ(got, want[at++]);
  }
  EXPECT_EQ(at, 4U);
  EXPECT_EQ(want.size(), 4U);
}

}  // namespace
}  // namespace foxhunt::book
