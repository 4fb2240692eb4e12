// Random streams, right and wrong, against a book of std::map and std::list: equal after each one.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "foxhunt/book/reference_book.h"
#include "foxhunt/latency/count_allocations.h"

namespace foxhunt::book {
namespace {

using market::Side;
using test::event;
using test::kKey;
using test::RandomOrders;
using test::ReferenceBook;

template <class Queues>
void expect_side_equal(const OrderBook& book, Side side, const Queues& want) {
  ASSERT_EQ(book.levels(side), want.size());
  std::size_t rank = 0;
  for (const auto& [price, queue] : want) {
    const Level level = book.level(side, rank);
    ASSERT_EQ(level.price.nano, price);
    ASSERT_EQ(level.orders, queue.size());
    const auto got = book.queue(side, rank++);
    ASSERT_TRUE(std::ranges::equal(got, queue));
    std::int64_t sum = 0;
    std::uint32_t ahead = 0;
    for (const RestingOrder& order : queue) {
      const auto position = book.position(order.id);
      ASSERT_TRUE(position);
      ASSERT_EQ(position->price.nano, price);
      ASSERT_EQ(position->side, side);
      ASSERT_EQ(position->size, order.size);
      ASSERT_EQ(position->size_ahead, sum);
      ASSERT_EQ(position->orders_ahead, ahead++);
      sum += order.size;
    }
    ASSERT_EQ(level.size, sum);
  }
}

void expect_equal(const OrderBook& book, const ReferenceBook& want) {
  expect_side_equal(book, Side::kBid, want.bids);
  if (!testing::Test::HasFatalFailure()) expect_side_equal(book, Side::kAsk, want.asks);
}

void run(std::uint64_t seed, std::uint64_t live, std::uint64_t garbage, int events) {
  RandomOrders orders(seed, 250'000'000, live, garbage);
  OrderBook book(kKey, 4, 2);  // grows on the way
  ReferenceBook want;
  for (int i = 0; i < events; ++i) {
    const market::OrderEvent e = orders.next();
    book.apply(e);
    want.apply(e);
    expect_equal(book, want);
    if (testing::Test::HasFatalFailure()) {
      FAIL() << "seed " << seed << ", event " << i << ", action " << e.action;
    }
  }
  const BookCounters& c = book.counters();
  EXPECT_EQ(c.records, events);
  EXPECT_EQ(c.records,
            c.adds + c.cancels + c.modifies + c.clears + c.passive + c.foreign + c.unknown_action);
  for (const auto field :
       {&BookCounters::unknown_cancel, &BookCounters::unknown_modify, &BookCounters::duplicate_add,
        &BookCounters::over_cancel, &BookCounters::other_side, &BookCounters::other_price,
        &BookCounters::bad_value}) {
    EXPECT_EQ(c.*field, want.damage.*field);
    // A stream with garbage tries every kind of damage.
    EXPECT_TRUE(garbage == 0 ? c.*field == 0 : garbage < 100 || c.*field > 0);
  }
}

TEST(OrderBookRandom, EqualsTheReferenceAfterEveryRecord) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    run(seed, 60, 0, 2000);
    run(seed + 10, 60, 200, 2000);
  }
  run(99, 600, 20, 2500);
}

TEST(OrderBookRandom, ASavedBookGoesOnAsIfNothingHadHappened) {
  RandomOrders orders(5, 250'000'000, 80, 100);
  OrderBook book(kKey);
  OrderBook other(kKey, 8, 8);
  for (int i = 0; i < 3000; ++i) {
    const market::OrderEvent e = orders.next();
    EXPECT_EQ(book.apply(e), i == 0 ? book.ready() : other.apply(e));
    ByteWriter saved;
    book.save(saved);
    if (i % 100 == 0) {
      ByteReader from(saved.bytes(), "a.state");
      other.restore(from);
      from.finish();
    }
    ByteWriter again;
    other.save(again);
    ASSERT_EQ(saved.bytes(), again.bytes()) << i;
    EXPECT_EQ(other.counters(), book.counters());
  }
}

TEST(OrderBookRandom, AllocatesNothingWithinItsRoom) {
  RandomOrders orders(6, 250'000'000, 3000, 50);
  std::vector<market::OrderEvent> events(40'000);
  std::ranges::generate(events, [&orders] { return orders.next(); });
  OrderBook book(kKey, 8192, 1024);
  DepthView view;
  const std::int64_t before = latency::thread_allocations();
  std::int64_t views = 0;
  for (const market::OrderEvent& e : events) {
    if (book.apply(e)) views += static_cast<std::int64_t>(book.view(view));
  }
  EXPECT_EQ(latency::thread_allocations(), before);
  EXPECT_GT(views, 1000);
  EXPECT_GT(book.orders(), 100U);
  EXPECT_GT(before, 0);  // the counter counts
}

/// Against a set: ids that collide, removals in the middle of clusters, growth.
TEST(OrderIndex, FindsWhatIsInItAndNothingElse) {
  Rng rng(8);
  OrderIndex index(4);
  std::map<std::uint64_t, std::uint32_t> want;
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    // A thousand ids only, so that clusters come and go.
    const std::uint64_t id = rng.below(1000) * (rng.below(2) == 0 ? 1 : std::uint64_t{1} << 40U);
    if (want.contains(id)) {
      ASSERT_EQ(index.find(id), want[id]);
      index.erase(id);
      want.erase(id);
    } else {
      ASSERT_EQ(index.find(id), OrderIndex::kNone);
      index.insert(id, i);
      want[id] = i;
    }
    ASSERT_EQ(index.size(), want.size());
    if (i % 10'000 == 0) {
      for (const auto& [known, place] : want) ASSERT_EQ(index.find(known), place);
    }
  }
}

}  // namespace
}  // namespace foxhunt::book
