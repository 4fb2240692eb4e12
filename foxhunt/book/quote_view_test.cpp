// Views out of levels, and that they agree with the book that the orders build.
#include "foxhunt/book/quote_view.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "foxhunt/book/order_book.h"
#include "foxhunt/book/random_orders.h"
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

/// What an order book says as ten levels, given as such, is the same view.
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
    std::vector<market::BookLevel> levels(DepthView::kLevels);
    for (std::size_t m = 0; m < levels.size(); ++m) {
      levels[m] = {want.bids[m].price,
                   want.asks[m].price,
                   static_cast<std::uint32_t>(want.bids[m].size),
                   static_cast<std::uint32_t>(want.asks[m].size),
                   want.bids[m].orders,
                   want.asks[m].orders};
    }
    DepthView got;
    ASSERT_TRUE(view_of({e.instrument, e.ts_event, e.ts_recv, e.sequence, e.flags}, levels, got));
    got.quality = want.quality;
    // An order of the largest size is beyond the 32 bits of a record's level.
    bool fits = true;
    for (const auto& level : want.bids) fits &= level.size <= 0xFFFF'FFFF;
    for (const auto& level : want.asks) fits &= level.size <= 0xFFFF'FFFF;
    if (!fits) continue;
    ASSERT_EQ(got, want);
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

/// The two records of the official mbp-1 file (values read by another program).
TEST(QuoteView, ReadsTheOfficialMbp1Fixture) {
  const std::filesystem::path path = "tests/data/dbn/test_data.mbp-1.v3.dbn.zst";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto reader = market::open_reader(path);
  const market::Record* record = reader->next();
  ASSERT_NE(record, nullptr);
  DepthView view;
  ASSERT_TRUE(view_of(std::get<market::TopOfBook>(*record), view));
  EXPECT_EQ(view.bids[0], (Level{Price{3'720'250'000'000}, 24, 15}));
  EXPECT_EQ(view.asks[0], (Level{Price{3'720'500'000'000}, 11, 9}));
  EXPECT_TRUE(view.bids[1].is_empty());
}

}  // namespace
}  // namespace foxhunt::book
