// The rules of an order book, one by one, and pitfalls 32 to 35.
#include "foxhunt/book/order_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/book/reference_book.h"

namespace foxhunt::book {
namespace {

using market::Side;
using test::event;
using test::kKey;
using testing::ElementsAre;
using testing::HasSubstr;
using Queue = std::vector<RestingOrder>;
namespace flag = market::flag;

constexpr auto kBid = Side::kBid;
constexpr auto kAsk = Side::kAsk;

OrderBook started() {
  OrderBook book(kKey, 16, 16);
  book.apply(event('R', 0, Side::kNone, Price::kNullNano, 0));
  return book;
}

TEST(OrderBook, KeepsQueuesFirstComeFirst) {
  OrderBook book = started();
  book.apply(event('A', 1, kBid, 100, 5));
  book.apply(event('A', 2, kBid, 100, 7));
  book.apply(event('A', 3, kBid, 100, 9));
  book.apply(event('A', 4, kBid, 99, 1));
  EXPECT_EQ(book.queue(kBid, 0), (Queue{{1, 5}, {2, 7}, {3, 9}}));
  EXPECT_EQ(book.level(kBid, 0), (Level{Price{100}, 21, 3}));
  EXPECT_EQ(book.position(3)->size_ahead, 12);
  EXPECT_EQ(book.position(3)->orders_ahead, 2U);

  book.apply(event('M', 1, kBid, 100, 4));  // smaller: keeps its place
  EXPECT_EQ(book.queue(kBid, 0), (Queue{{1, 4}, {2, 7}, {3, 9}}));
  book.apply(event('M', 1, kBid, 100, 4));  // nothing changes: keeps its place
  EXPECT_EQ(book.queue(kBid, 0), (Queue{{1, 4}, {2, 7}, {3, 9}}));
  book.apply(event('M', 1, kBid, 100, 6));  // larger: to the end
  EXPECT_EQ(book.queue(kBid, 0), (Queue{{2, 7}, {3, 9}, {1, 6}}));
  book.apply(event('M', 2, kBid, 99, 7));  // another price: to its end
  EXPECT_EQ(book.queue(kBid, 1), (Queue{{4, 1}, {2, 7}}));
  book.apply(event('C', 3, kBid, 100, 2));  // a part
  EXPECT_EQ(book.queue(kBid, 0), (Queue{{3, 7}, {1, 6}}));
  book.apply(event('C', 3, kBid, 100, 7));  // the rest
  EXPECT_EQ(book.queue(kBid, 0), (Queue{{1, 6}}));
  book.apply(event('C', 1, kBid, 100, 6));  // the level goes
  EXPECT_EQ(book.level(kBid, 0).price, Price{99});
  EXPECT_EQ(book.position(1), std::nullopt);
  EXPECT_EQ(book.counters().damage(), 0) << book.counters().summary();
}

TEST(OrderBook, OrdersBidsDownAndAsksUpNegativePricesToo) {
  OrderBook book = started();
  std::uint64_t id = 0;
  for (const std::int64_t price : {5, -3, 0, 7, -100, 6}) {
    book.apply(event('A', ++id, kBid, price, 1));
    book.apply(event('A', ++id, kAsk, price + 50, 2));
  }
  std::vector<std::int64_t> bids;
  std::vector<std::int64_t> asks;
  for (std::size_t rank = 0; rank < 6; ++rank) {
    bids.push_back(book.level(kBid, rank).price.nano);
    asks.push_back(book.level(kAsk, rank).price.nano);
  }
  EXPECT_THAT(bids, ElementsAre(7, 6, 5, 0, -3, -100));
  EXPECT_THAT(asks, ElementsAre(-50, 47, 50, 55, 56, 57));
  EXPECT_TRUE(book.level(kBid, 6).is_empty());
}

TEST(OrderBook, GoesOnAfterDamageAsStated) {
  OrderBook book = started();
  book.apply(event('C', 9, kBid, 100, 1));
  book.apply(event('M', 1, kBid, 100, 5));  // unknown: added
  book.apply(event('A', 2, kBid, 100, 3));
  book.apply(event('A', 1, kAsk, 103, 8));  // rests as a bid: that one leaves
  EXPECT_EQ(book.queue(kBid, 0), (Queue{{2, 3}}));
  EXPECT_EQ(book.queue(kAsk, 0), (Queue{{1, 8}}));
  book.apply(event('C', 1, kBid, 104, 9));  // by id: other side, other price, too much
  EXPECT_EQ(book.levels(kAsk), 0U);
  book.apply(event('A', 5, kBid, Price::kNullNano, 5));
  book.apply(event('A', 5, Side::kNone, 5, 5));
  book.apply(event('A', 5, kBid, 5, 0));
  book.apply(event('C', 2, kBid, 100, 0));
  book.apply(event('Z', 2, kBid, 100, 3));
  EXPECT_EQ(book.orders(), 1U);
  const BookCounters& c = book.counters();
  EXPECT_EQ(c.unknown_cancel, 1);
  EXPECT_EQ(c.unknown_modify, 1);
  EXPECT_EQ(c.duplicate_add, 1);
  EXPECT_EQ(c.over_cancel, 1);
  EXPECT_EQ(c.other_side, 1);
  EXPECT_EQ(c.other_price, 1);
  EXPECT_EQ(c.bad_value, 4);
  EXPECT_EQ(c.unknown_action, 1);
  EXPECT_THAT(c.summary(), HasSubstr("1 duplicate adds"));
}

TEST(OrderBook, IgnoresAndCountsOtherInstruments) {
  OrderBook book = started();
  auto other = event('A', 1, kBid, 100, 5);
  other.instrument.publisher_id = 2;
  EXPECT_FALSE(book.apply(other));
  other.instrument = {.publisher_id = 1, .instrument_id = 8};
  EXPECT_FALSE(book.apply(other));
  EXPECT_EQ(book.counters().foreign, 2);
  EXPECT_EQ(book.orders(), 0U);
  EXPECT_TRUE(book.ready());
}

TEST(Pitfall32, TradesFillsAndNoneNeverTouchTheBook) {
  OrderBook book = started();
  book.apply(event('A', 1, kAsk, 101, 5, 0));
  book.apply(event('A', 2, kAsk, 101, 4, 0));
  book.apply(event('A', 3, kBid, 100, 6));
  // A buyer of 7: all of order 1, two of order 2.
  for (const auto& e : {event('T', 0, kBid, 101, 7, 0), event('F', 1, kAsk, 101, 5, 0),
                        event('F', 2, kAsk, 101, 2, 0), event('N', 3, kBid, 100, 6, 0)}) {
    EXPECT_FALSE(book.apply(e));
    EXPECT_EQ(book.queue(kAsk, 0), (Queue{{1, 5}, {2, 4}}));
    EXPECT_EQ(book.queue(kBid, 0), (Queue{{3, 6}}));
  }
  book.apply(event('C', 1, kAsk, 101, 5, 0));
  book.apply(event('M', 2, kAsk, 101, 2));
  EXPECT_EQ(book.queue(kAsk, 0), (Queue{{2, 2}}));
  // Of an order that the book does not know either.
  book.apply(event('F', 77, kBid, 500, 1));
  EXPECT_EQ(book.orders(), 2U);
  EXPECT_EQ(book.counters().damage(), 0);
  EXPECT_EQ(book.counters().passive, 5);
}

TEST(Pitfall33, SnapshotRowsAreStateAndTheBookIsInvalidUntilTheirLast) {
  OrderBook book(kKey, 16, 16);
  DepthView view;
  EXPECT_FALSE(book.apply(event('A', 50, kBid, 90, 1)));  // mid-day: what rests is not known
  EXPECT_FALSE(book.view(view));
  EXPECT_EQ(book.counters().events, 0);

  EXPECT_FALSE(book.apply(event('A', 1, kBid, 100, 5, flag::kSnapshot)));
  EXPECT_EQ(book.orders(), 1U) << "the snapshot replaces what was there";
  EXPECT_FALSE(book.started());
  EXPECT_FALSE(book.apply(event('A', 2, kAsk, 101, 0, flag::kSnapshot)));  // size 0: no order
  EXPECT_FALSE(book.view(view));
  EXPECT_TRUE(book.apply(event('A', 3, kAsk, 102, 4, flag::kSnapshot | flag::kLast | 0x08)));
  ASSERT_TRUE(book.view(view));
  EXPECT_EQ(view.bids[0], (Level{Price{100}, 5, 1}));
  EXPECT_EQ(view.asks[0], (Level{Price{102}, 4, 1}));
  EXPECT_TRUE(view.bids[1].is_empty());

  // A second one, in mid-stream, begins with R as newer files do.
  EXPECT_FALSE(book.apply(event('R', 0, Side::kNone, Price::kNullNano, 0, flag::kSnapshot)));
  EXPECT_FALSE(book.started());
  EXPECT_FALSE(book.view(view));
  EXPECT_FALSE(book.apply(event('A', 8, kBid, 95, 2, flag::kSnapshot)));
  EXPECT_TRUE(book.apply(event('A', 9, kAsk, 97, 3, flag::kSnapshot | flag::kLast)));
  EXPECT_EQ(book.orders(), 2U);

  // Older files flag no LAST: what follows ends it, and the book is looked at after that event.
  book.apply(event('A', 1, kBid, 100, 5, flag::kSnapshot));
  EXPECT_FALSE(book.apply(event('A', 4, kBid, 99, 5, 0)));
  EXPECT_TRUE(book.apply(event('N', 4, kBid, 99, 5)));
  EXPECT_EQ(book.orders(), 2U);
  EXPECT_EQ(book.counters().snapshots, 3);
  EXPECT_EQ(book.counters().open_snapshots, 1);
  EXPECT_EQ(book.counters().snapshot_rows, 7);
  EXPECT_TRUE(book.apply(event('R', 0, Side::kNone, Price::kNullNano, 0)));
}

TEST(Pitfall34, CrossedAndLockedBooksAreCountedNeverAsserted) {
  OrderBook book = started();
  DepthView view;
  book.apply(event('A', 1, kBid, 100, 5));
  book.apply(event('A', 2, kAsk, 100, 5));
  ASSERT_TRUE(book.view(view));
  EXPECT_TRUE(view.is_locked());
  EXPECT_FALSE(view.is_crossed());
  book.apply(event('A', 3, kBid, 101, 5, 0));  // inside of an event: nobody looks
  book.apply(event('N', 3, kBid, 101, 5));
  ASSERT_TRUE(book.view(view));
  EXPECT_TRUE(view.is_crossed());
  book.apply(event('C', 2, kAsk, 100, 5));
  EXPECT_EQ(book.counters().locked, 1);
  EXPECT_EQ(book.counters().crossed, 1);
  EXPECT_EQ(book.counters().events, 5);
}

TEST(Pitfall35, TheBookIsLookedAtOnlyAfterTheLastRecordOfAnEvent) {
  OrderBook book = started();
  DepthView view;
  EXPECT_TRUE(book.apply(event('A', 1, kBid, 100, 5, 130)));  // bits, not equality
  EXPECT_TRUE(book.view(view));
  EXPECT_FALSE(book.apply(event('M', 1, kBid, 98, 5, 0)));
  const DepthView before = view;
  EXPECT_FALSE(book.view(view));
  EXPECT_EQ(view, before) << "left as it was";
  EXPECT_TRUE(book.apply(event('T', 1, kBid, 98, 5)));
  EXPECT_TRUE(book.view(view));
  EXPECT_EQ(view.bids[0].price, Price{98});
}

TEST(OrderBook, FillsAsManyLevelsAsAreAskedFor) {
  OrderBook book = started();
  for (std::uint64_t i = 0; i < 12; ++i) {
    const auto away = static_cast<std::int64_t>(i);
    book.apply(event('A', 1 + i, kBid, 100 - away, 5));
    if (i < 4) book.apply(event('A', 20 + i, kAsk, 101 + away, 6));
  }
  DepthView all;
  ASSERT_TRUE(book.view(all));
  EXPECT_EQ(all.bids[9].price, Price{91});
  for (const std::size_t levels : {0U, 1U, 3U, 9U, 10U, 11U, 99U}) {
    const Level mark{Price{7}, 7, 7};
    DepthView some;
    some.bids.fill(mark);
    some.asks.fill(mark);
    ASSERT_TRUE(book.view(some, levels));
    for (std::size_t m = 0; m < DepthView::kLevels; ++m) {
      EXPECT_EQ(some.bids[m], m < levels ? all.bids[m] : mark) << levels << " " << m;
      EXPECT_EQ(some.asks[m], m < levels ? all.asks[m] : mark) << levels << " " << m;
    }
    EXPECT_EQ(some.sequence, all.sequence);
    EXPECT_EQ(some.ts_recv, all.ts_recv);
  }
}

TEST(OrderBook, CarriesTheQualityOfTheFeed) {
  OrderBook book = started();
  DepthView view;
  book.apply(event('A', 1, kBid, 100, 5, flag::kBadTsRecv));
  book.apply(event('A', 2, kAsk, 101, 5));
  ASSERT_TRUE(book.view(view));
  EXPECT_TRUE(view.quality.bad_ts_recv) << "of a record of this event";
  book.apply(event('C', 2, kAsk, 101, 1, flag::kLast | flag::kMaybeBadBook));
  ASSERT_TRUE(book.view(view));
  EXPECT_EQ(view.quality, (Quality{.maybe_bad_book = true, .bad_ts_recv = false}));
  book.apply(event('C', 2, kAsk, 101, 1));
  EXPECT_TRUE(book.quality().maybe_bad_book) << "until the book begins anew";
  book.apply(event('R', 0, Side::kNone, Price::kNullNano, 0));
  EXPECT_FALSE(book.quality().maybe_bad_book);
  EXPECT_EQ(book.counters().maybe_bad_book, 1);
  EXPECT_EQ(book.counters().bad_ts_recv, 1);
}

TEST(OrderBook, RefusesASavedBookThatIsNone) {
  OrderBook book = started();
  book.apply(event('A', 1, kBid, 100, 5));
  ByteWriter saved;
  book.save(saved);
  const auto refusal = [](std::span<const std::byte> bytes, OrderBook into) -> std::string {
    try {
      ByteReader from(bytes, "a.state");
      into.restore(from);
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(saved.bytes(), book), "");
  EXPECT_THAT(refusal(saved.bytes(), OrderBook({.publisher_id = 1, .instrument_id = 8}, 4, 4)),
              HasSubstr("instrument 7"));
  for (std::size_t n = 0; n < saved.bytes().size(); ++n) {
    EXPECT_NE(refusal(std::span(saved.bytes()).first(n), book), "") << n;
  }
}

}  // namespace
}  // namespace foxhunt::book
