// One object for bars and for books: the same rows as the pipeline inside, the moment of each, one
// instrument at a time, a state that goes on.
#include "foxhunt/features/row_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/book/random_orders.h"
#include "foxhunt/features/test_bars.h"

namespace foxhunt::features {
namespace {

using book::test::RandomOrders;
using market::OrderEvent;

RowPipeline of_bars() {
  return {test::small_config(), std::nullopt, market::Calendar::for_product("ES"),
          market::contract_for_product("ES")};
}
RowPipeline of_book(BookSample sample = BookSample::kTop) {
  BookFeatureConfig config;
  config.sample = sample;
  config.spans = {3, 20};
  return {FeatureConfig{}, config, market::Calendar::for_product("ES"),
          market::contract_for_product("ES")};
}

/// A clear, then orders within a session of ES.
std::vector<OrderEvent> orders(std::uint64_t seed, std::size_t n, std::uint32_t instrument = 7) {
  RandomOrders made(seed, market::contract_for_product("ES").tick.nano, 300, 0, false);
  std::vector<OrderEvent> events(n);
  std::ranges::generate(events, [&made] { return made.next(); });
  events.front().action = 'R';
  events.front().flags = market::flag::kLast;
  for (OrderEvent& e : events) {
    e.ts_recv += std::chrono::hours{16};  // 2023-11-15 14:13 UTC
    e.ts_event = e.ts_recv - std::chrono::microseconds{20};
    e.instrument.instrument_id = instrument;
  }
  return events;
}

/// Bits of every row, "" where there is none.
std::vector<std::string> rows(RowPipeline& pipeline, std::span<const OrderEvent> events) {
  std::vector<std::string> out;
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  for (const OrderEvent& e : events) {
    const bool ready = pipeline.push(e, row).status == Status::kReady;
    out.emplace_back(reinterpret_cast<const char*>(row.data()),  // NOLINT
                     ready ? row.size() * sizeof(float) : 0);
  }
  return out;
}

TEST(RowPipeline, OfBarsIsTheFeaturePipeline) {
  RowPipeline pipeline = of_bars();
  FeaturePipeline inner = test::make_pipeline();
  EXPECT_FALSE(pipeline.of_book());
  EXPECT_EQ(pipeline.schema().hash(), inner.schema().hash());
  Rng rng(1);
  std::vector<float> a(static_cast<std::size_t>(pipeline.width()));
  std::vector<float> b = a;
  for (const market::Bar& bar : test::random_bars(rng, parse_time("2023-11-15T12:00"), 200)) {
    EXPECT_EQ(pipeline.push(bar, a).status, inner.push(bar, b).status);
    EXPECT_EQ(a, b);
    EXPECT_EQ(pipeline.moment().start, bar.start);
    EXPECT_EQ(pipeline.moment().available_at, bar.end());
    EXPECT_EQ(pipeline.moment().price, bar.close);
  }
  const std::int64_t bars = pipeline.counters().bars;
  EXPECT_EQ(pipeline.push(orders(1, 1).front(), a).status, Status::kBadBar);
  EXPECT_EQ(pipeline.counters().bars, bars) << "an order event is no bar";
}

TEST(RowPipeline, OfABookSaysWhenARowCouldBeKnownAndTheMid) {
  RowPipeline pipeline = of_book(BookSample::kEvent);
  EXPECT_TRUE(pipeline.of_book());
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  book::OrderBook book(book::test::kKey);
  UnixNanos before = kNullTime;
  for (const OrderEvent& e : orders(2, 3000)) {
    book.apply(e);
    if (pipeline.push(e, row).status != Status::kReady) continue;
    EXPECT_EQ(pipeline.moment().start, e.ts_event);
    EXPECT_EQ(pipeline.moment().available_at, e.ts_recv);
    EXPECT_TRUE(is_null(before) || before <= e.ts_recv);
    before = e.ts_recv;
    const Price bid = book.level(market::Side::kBid, 0).price;
    const Price ask = book.level(market::Side::kAsk, 0).price;
    EXPECT_EQ(2 * pipeline.moment().price.nano, bid.nano + ask.nano);
  }
  const PushCounters& c = pipeline.counters();
  EXPECT_EQ(c.bars, 3000);
  EXPECT_GT(c.ready, 1500);
  EXPECT_GE(c.sequences, 1);
  EXPECT_EQ(c.bars, c.ready + c.warming_up + c.closed + c.bad() + c.unsampled());
  market::Bar bar;
  EXPECT_EQ(pipeline.push(bar, row).status, Status::kBadBar);
  EXPECT_EQ(c.bars, 3000) << "a bar is no order event";
}

TEST(RowPipeline, OfABookTimeNeverRunsBack) {
  RowPipeline pipeline = of_book(BookSample::kEvent);
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  std::vector<OrderEvent> events = orders(3, 1000);
  for (std::size_t i = 600; i < 700; ++i) events[i].ts_recv -= std::chrono::seconds{1};
  UnixNanos before = UnixNanos::min();
  for (const OrderEvent& e : events) {
    if (pipeline.push(e, row).status != Status::kReady) continue;
    EXPECT_GE(pipeline.moment().available_at, before);
    before = pipeline.moment().available_at;
  }
}

TEST(RowPipeline, AnotherInstrumentStartsABookOfItsOwn) {
  const auto first = orders(4, 800);
  const auto second = orders(5, 800, 8);
  RowPipeline alone = of_book();
  const auto want = rows(alone, second);
  RowPipeline pipeline = of_book();
  rows(pipeline, first);
  const std::int64_t sequences = pipeline.counters().sequences;
  EXPECT_EQ(rows(pipeline, second), want);
  EXPECT_EQ(pipeline.counters().new_contract, 1);
  EXPECT_EQ(pipeline.counters().sequences, sequences + alone.counters().sequences);
}

TEST(RowPipeline, OfABookGoesOnFromASavedStateWithTheSameBits) {
  const auto events = orders(6, 2000);
  RowPipeline whole = of_book();
  const auto want = rows(whole, events);
  EXPECT_GT(std::ranges::count_if(want, [](const auto& r) { return !r.empty(); }), 150);
  for (const std::size_t cut : {1U, 17U, 500U, 1333U, 1999U}) {
    RowPipeline before = of_book();
    rows(before, std::span(events).first(cut));
    ByteWriter saved;
    before.save(saved);
    RowPipeline after = of_book();
    ByteReader from(saved.bytes(), "saved");
    after.restore(from);
    from.finish();
    const auto got = rows(after, std::span(events).subspan(cut));
    EXPECT_TRUE(
        std::equal(got.begin(), got.end(), want.begin() + static_cast<std::ptrdiff_t>(cut)));
    EXPECT_EQ(after.summary(), whole.summary());
  }
}

TEST(RowPipeline, RefusesAStateThatIsCutDamagedOrOfAnotherSource) {
  RowPipeline pipeline = of_book();
  rows(pipeline, orders(7, 300));
  ByteWriter saved;
  pipeline.save(saved);
  const std::vector<std::byte> bytes(saved.bytes().begin(), saved.bytes().end());
  RowPipeline target = of_book();
  for (std::size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 97) {
    const auto part = std::span(bytes).first(n);
    ByteReader cut(part, "cut");
    EXPECT_THROW(target.restore(cut), FormatError);
    auto flipped = bytes;
    flipped[n] ^= std::byte{4};
    ByteReader damaged(flipped, "damaged");
    EXPECT_THROW(target.restore(damaged), FormatError);
  }
  RowPipeline other = of_bars();
  ByteReader from(bytes, "book");
  EXPECT_THROW(other.restore(from), FormatError);
  EXPECT_EQ(target.counters().bars, 0);
}

}  // namespace
}  // namespace foxhunt::features
