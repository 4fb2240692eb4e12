// Real feeds: the books of ESH4 and ESM4 rebuilt to values that another program found.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "foxhunt/base/time.h"
#include "foxhunt/book/order_book.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::book {
namespace {

using market::OrderEvent;
using market::Side;

/// "" where there is no such file.
std::filesystem::path feed(const std::string& name) {
  const char* shared = std::getenv("FOXHUNT_SHARED");  // NOLINT(concurrency-mt-unsafe)
  if (shared == nullptr) return {};
  const auto path = std::filesystem::path(shared) / "data/futures/es-mbo" / name;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

OrderBook replay(const std::filesystem::path& path,
                 const std::function<void(const OrderBook&, const OrderEvent&, bool)>& see) {
  const auto reader = market::open_reader(path);
  std::optional<OrderBook> book;
  while (const market::Record* record = reader->next()) {
    const auto* order = std::get_if<OrderEvent>(record);
    if (order == nullptr) continue;
    if (!book) book.emplace(order->instrument);
    const bool end = book->apply(*order);
    see(*book, *order, end);
  }
  return std::move(*book);
}

TEST(OrderBookOnEs, RebuildsTheDayOf20231225) {
  const auto path = feed("esh4-glbx-mdp3-20231225.mbo.dbn.zst");
  if (path.empty()) GTEST_SKIP() << "no esh4 MBO file below FOXHUNT_SHARED";
  std::int64_t trades = 0, lots = 0, one_tick = 0, crossed_before_open = 0, no_last = 0;
  Price low{std::numeric_limits<std::int64_t>::max()}, high{0};
  const UnixNanos open = parse_time("2023-12-25T23:00");
  const OrderBook book = replay(path, [&](const OrderBook& b, const OrderEvent& e, bool end) {
    if (e.action == 'T') {
      ++trades;
      lots += e.size;
      low = std::min(low, e.price);
      high = std::max(high, e.price);
    }
    const bool snapshot = (e.flags & market::flag::kSnapshot) != 0;
    no_last += static_cast<std::int64_t>(!snapshot && (e.flags & market::flag::kLast) == 0);
    DepthView view;
    if (!end || !b.view(view)) return;
    if (view.is_crossed() || view.is_locked()) {
      crossed_before_open += static_cast<std::int64_t>(e.ts_recv < open);
    }
    one_tick +=
        static_cast<std::int64_t>(view.asks[0].price.nano - view.bids[0].price.nano == 250'000'000);
  });
  const BookCounters& c = book.counters();
  EXPECT_EQ(c.records, 68'792);
  EXPECT_EQ(c.events, 47'022);
  EXPECT_EQ(c.snapshot_rows, 8'725);
  EXPECT_EQ(c.damage(), 0) << c.summary();
  EXPECT_EQ(trades, 2'973);
  EXPECT_EQ(lots, 9'892);
  EXPECT_EQ(low.nano, 4'800'250'000'000);
  EXPECT_EQ(high.nano, 4'811'750'000'000);
  EXPECT_EQ(no_last, 13'045);
  EXPECT_EQ(c.crossed + c.locked, 891) << c.summary();
  EXPECT_EQ(crossed_before_open, 890) << "the auction before the open";
  EXPECT_EQ(book.level(Side::kBid, 0).price.nano, 4'810'000'000'000);
  EXPECT_EQ(book.level(Side::kBid, 0).size, 22);
  EXPECT_EQ(book.level(Side::kAsk, 0).price.nano, 4'810'250'000'000);
  EXPECT_EQ(book.level(Side::kAsk, 0).size, 28);
  EXPECT_NEAR(static_cast<double>(book.levels(Side::kBid)), 920, 5);
  EXPECT_NEAR(static_cast<double>(book.levels(Side::kAsk)), 565, 5);
  EXPECT_NEAR(static_cast<double>(one_tick) / static_cast<double>(c.events), 0.88, 0.005);
}

TEST(OrderBookOnEs, ReadsTheSnapshotOf20231224) {
  const auto path = feed("esh4-glbx-mdp3-20231224.mbo.dbn.zst");
  if (path.empty()) GTEST_SKIP() << "no esh4 MBO file below FOXHUNT_SHARED";
  const OrderBook book = replay(path, [](const OrderBook&, const OrderEvent&, bool) {});
  EXPECT_EQ(book.counters().damage(), 0) << book.counters().summary();
  EXPECT_EQ(book.orders(), 8'725U);
  EXPECT_EQ(book.levels(Side::kBid), 892U);
  EXPECT_EQ(book.levels(Side::kAsk), 559U);
  EXPECT_TRUE(book.ready());
}

TEST(OrderBookOnEs, RebuildsTwoSecondsOfEsm4) {
  const auto path = feed("orderbooks_mbo_2024-05-08T00-00-00_2024-05-08T00-00-02.dbn.zst");
  if (path.empty()) GTEST_SKIP() << "no ESM4 MBO file below FOXHUNT_SHARED";
  const OrderBook book = replay(path, [](const OrderBook&, const OrderEvent&, bool) {});
  const BookCounters& c = book.counters();
  EXPECT_EQ(c.records, 13'796);
  EXPECT_EQ(c.damage(), 0) << c.summary();
  EXPECT_EQ(c.events, 185) << "the end of the snapshot is one";
  EXPECT_EQ(c.crossed + c.locked, 0);
  EXPECT_EQ(book.level(Side::kBid, 0).price.nano, 5'214'000'000'000);
  EXPECT_EQ(book.level(Side::kAsk, 0).price.nano, 5'214'250'000'000);
}

}  // namespace
}  // namespace foxhunt::book
