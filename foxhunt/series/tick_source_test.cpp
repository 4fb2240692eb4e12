#include "foxhunt/series/tick_source.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/market/fake_reader.h"

namespace foxhunt::series {
namespace {

using market::BookLevel;
using market::TopOfBook;
using market::Trade;
using market::test::FakeReader;

Trade trade(const char* at, std::uint32_t id, std::uint32_t size) {
  return {.instrument = {1, id},
          .ts_event = parse_time(at),
          .ts_recv = parse_time(at),
          .price = Price{1'700'000'000'000},
          .size = size};
}

/// Id 7 is ESZ3 up to December 19 and ESH4 from the 20th on, UTC.
market::StreamInfo reused() {
  market::StreamInfo info;
  info.mappings = {{"ESZ3", parse_date("2013-12-01"), parse_date("2013-12-20"), 7},
                   {"ESH4", parse_date("2013-12-20"), parse_date("2014-01-01"), 7},
                   {"ESZ3-ESH4", parse_date("2013-12-01"), parse_date("2014-01-01"), 8}};
  return info;
}

FakeReader reader_of(const std::vector<Trade>& trades, const market::StreamInfo& info) {
  FakeReader reader({}, info);
  for (const Trade& t : trades) reader.add(t);
  return reader;
}

TEST(TickSource, Pitfall21And22AnIdIsLookedUpByItsUtcDateEndExclusive) {
  const std::vector<Trade> trades = {
      trade("2013-12-19T23:59:59.999999999", 7, 1), trade("2013-12-20T00:00:00", 7, 2),
      trade("2013-12-20T00:00:01", 9, 4), trade("2013-12-20T00:00:02", 8, 8)};
  for (const auto& [symbol, size] : {std::pair{"ESZ3", 1U}, {"ESH4", 2U}}) {
    FakeReader reader = reader_of(trades, reused());
    TickSource source(reader, {.symbol = symbol});
    const auto tick = source.next();
    ASSERT_TRUE(tick);
    EXPECT_EQ(tick->size, size);
    EXPECT_FALSE(source.next());
    const TickCounters& c = source.counters();
    EXPECT_EQ(c.other_contract, 2);  // the other day's contract and the spread
    EXPECT_EQ(c.unmapped, 1);
    EXPECT_EQ(c.records, 4);
  }
  FakeReader reader = reader_of(trades, reused());
  TickSource source(reader, {});
  EXPECT_TRUE(source.next());
  EXPECT_THROW(source.next(), DataError);  // another contract, and none was named
}

TEST(TickSource, Pitfall35MidsAreOfWholeEventsWithTwoSides) {
  const auto quote = [](std::int64_t bid, std::int64_t ask, std::uint8_t flags) {
    TopOfBook q{.ts_event = parse_time("2013-12-19T15:00"), .flags = flags, .level = {}};
    q.ts_recv = q.ts_event;
    q.level.bid = bid == 0 ? Price::null() : Price{bid};
    q.level.ask = ask == 0 ? Price::null() : Price{ask};
    return q;
  };
  FakeReader reader({});
  reader.add(quote(100, 104, 0));                    // inside an event
  reader.add(quote(100, 104, market::flag::kLast));  // 102
  reader.add(quote(101, 103, market::flag::kLast));  // unchanged
  reader.add(quote(0, 104, market::flag::kLast));    // one side
  reader.add(quote(104, 104, market::flag::kLast));  // locked
  reader.add(quote(102, 104, market::flag::kLast));  // 103
  reader.add(trade("2013-12-19T15:00:01", 0, 5));
  TickSource source(reader, {.of = TickOf::kMid});
  EXPECT_EQ(source.next()->price, Price{102});
  EXPECT_EQ(source.next()->price, Price{103});
  EXPECT_FALSE(source.next());
  const TickCounters& c = source.counters();
  EXPECT_EQ(c.inside_event, 1);
  EXPECT_EQ(c.unchanged, 1);
  EXPECT_EQ(c.empty, 1);
  EXPECT_EQ(c.crossed, 1);
  EXPECT_EQ(c.other_kind, 1);
}

TEST(TickSource, RefusesASymbolOfAnotherProduct) {
  FakeReader reader({});
  EXPECT_THROW(TickSource(reader, {.product = "ES", .symbol = "NQZ3"}), ConfigError);
}

}  // namespace
}  // namespace foxhunt::series
