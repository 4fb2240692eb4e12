// Several publishers and instruments, their records mixed.
#include "foxhunt/book/book_set.h"

#include <gtest/gtest.h>

#include "foxhunt/book/random_orders.h"

namespace foxhunt::book {
namespace {

using market::Side;

market::OrderEvent of(std::uint16_t publisher, std::uint32_t instrument, market::OrderEvent e) {
  e.instrument = {.publisher_id = publisher, .instrument_id = instrument};
  return e;
}

TEST(BookSet, KeepsBooksApartAndFindsTheBestOverPublishers) {
  BookSet set(16, 16);
  const auto clear = test::event('R', 0, Side::kNone, Price::kNullNano, 0);
  for (const int publisher : {3, 1, 2}) {
    set.apply(of(static_cast<std::uint16_t>(publisher), 7, clear));
  }
  set.apply(of(1, 8, clear));
  EXPECT_EQ(set.size(), 4U);
  // One id at every venue: other orders all the same.
  set.apply(of(1, 7, test::event('A', 1, Side::kBid, 100, 5)));
  set.apply(of(2, 7, test::event('A', 1, Side::kBid, 101, 6)));
  set.apply(of(3, 7, test::event('A', 1, Side::kBid, 101, 7)));
  set.apply(of(1, 7, test::event('A', 2, Side::kAsk, 103, 1)));
  set.apply(of(3, 7, test::event('A', 2, Side::kAsk, 104, 2)));
  set.apply(of(1, 8, test::event('A', 1, Side::kBid, 999, 9)));
  ConsolidatedBest best = set.best(7);
  EXPECT_EQ(best.bid, (Level{Price{101}, 13, 2}));
  EXPECT_EQ(best.bid_publishers, 2U);
  EXPECT_EQ(best.ask, (Level{Price{103}, 1, 1}));
  EXPECT_EQ(best.ready, 3U);
  // A book inside of an event does not count.
  set.apply(of(3, 7, test::event('A', 9, Side::kBid, 102, 7, 0)));
  best = set.best(7);
  EXPECT_EQ(best.bid, (Level{Price{101}, 6, 1}));
  EXPECT_EQ(best.ready, 2U);
  EXPECT_EQ(set.best(9).ready, 0U);
  EXPECT_TRUE(set.best(9).bid.is_empty());
  EXPECT_EQ(set.find({.publisher_id = 2, .instrument_id = 8}), nullptr);
  EXPECT_EQ(set.find({.publisher_id = 1, .instrument_id = 8})->orders(), 1U);
}

TEST(BookSet, GivesEachBookTheRecordsItWouldHaveAlone) {
  test::RandomOrders orders(2, 1, 50, 100);
  Rng rng(3);
  BookSet set;
  std::vector<OrderBook> alone;
  for (std::uint16_t p = 0; p < 5; ++p) {
    alone.emplace_back(market::InstrumentKey{p, static_cast<std::uint32_t>(p % 2)}, 64, 64);
  }
  for (int i = 0; i < 3000; ++i) {
    const auto p = static_cast<std::uint16_t>(rng.below(5));
    const auto e = of(p, p % 2U, orders.next());
    alone[p].apply(e);
    EXPECT_EQ(set.apply(e).counters(), alone[p].counters());
  }
  ASSERT_EQ(set.size(), 5U);
  for (const OrderBook& book : alone) {
    ByteWriter want;
    ByteWriter got;
    book.save(want);
    set.find(book.instrument())->save(got);
    EXPECT_EQ(got.bytes(), want.bytes());
  }
}

}  // namespace
}  // namespace foxhunt::book
