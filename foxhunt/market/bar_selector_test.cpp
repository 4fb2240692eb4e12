#include "foxhunt/market/bar_selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/market/fake_reader.h"

namespace foxhunt::market {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using test::FakeReader;
using test::kOpen;
using test::mapped;

/// A bar of instrument `id`, `minute` minutes after the open.
Bar bar_of(std::uint32_t id, std::int64_t minute) {
  const Price price{100'000'000'000};
  return {.instrument = {.publisher_id = 1, .instrument_id = id},
          .start = kOpen + minutes{minute},
          .open = price,
          .high = price,
          .low = price,
          .close = price,
          .volume = 1};
}

std::vector<std::string> symbols_of(BarSelector& selector, FakeReader reader) {
  std::vector<std::string> symbols;
  while (selector.next(reader) != nullptr) symbols.push_back(selector.symbol());
  return symbols;
}

std::string refusal(const std::vector<Bar>& bars) {
  BarSelector selector({});
  try {
    symbols_of(selector, FakeReader(bars, mapped({{1, "ESZ3"}, {2, "ESH4"}})));
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(BarSelector, TakesTheBarsOfTheProductAndCountsTheRest) {
  FakeReader reader({bar_of(1, 0), bar_of(2, 0), bar_of(3, 0), bar_of(9, 0), bar_of(1, 1)},
                    mapped({{1, "ESZ3"}, {2, "NQZ3"}, {3, "ESZ3-ESH4"}}));
  reader.add(Trade{});
  BarSelector selector({.product = "ES"});
  EXPECT_THAT(symbols_of(selector, std::move(reader)), testing::ElementsAre("ESZ3", "ESZ3"));
  const SelectionCounters& counters = selector.counters();
  EXPECT_EQ(counters.records, 6);
  EXPECT_EQ(counters.selected, 2);
  EXPECT_EQ(counters.other_product, 2);
  EXPECT_EQ(counters.unmapped, 1);
  EXPECT_EQ(counters.other_type, 1);
}

TEST(BarSelector, OneSymbolPicksOneOfSeveralContracts) {
  BarSelector selector({.product = "ES", .symbol = "ESH4"});
  FakeReader reader({bar_of(1, 0), bar_of(2, 0), bar_of(1, 1), bar_of(2, 1)},
                    mapped({{1, "ESZ3"}, {2, "ESH4"}}));
  EXPECT_THAT(symbols_of(selector, std::move(reader)), testing::ElementsAre("ESH4", "ESH4"));
  EXPECT_EQ(selector.counters().other_contract, 2);
}

TEST(BarSelector, LooksSymbolsUpByDay) {
  StreamInfo info;
  const auto add = [&info](const char* symbol, const char* start, const char* end) {
    info.mappings.push_back({.raw_symbol = symbol,
                             .start = parse_date(start),
                             .end = parse_date(end),
                             .instrument_id = 1});
  };
  add("NQZ3", "2013-10-07", "2013-10-08");
  add("ESZ3", "2013-10-08", "2013-10-09");
  BarSelector selector({});
  // 22:00 to 24:00 UTC is the first day.
  EXPECT_THAT(symbols_of(selector, FakeReader({bar_of(1, 119), bar_of(1, 120)}, info)),
              testing::ElementsAre("ESZ3"));
  EXPECT_EQ(selector.counters().other_product, 1);
}

TEST(BarSelector, AFileThatNamesOneSymbolHoldsIt) {
  StreamInfo info;
  info.symbols = {"ES.c.0"};
  BarSelector es({});
  EXPECT_THAT(symbols_of(es, FakeReader({bar_of(1, 0)}, info)), testing::ElementsAre("ES.c.0"));
  BarSelector nq({.product = "NQ"});
  EXPECT_THAT(symbols_of(nq, FakeReader({bar_of(1, 0)}, info)), testing::IsEmpty());
  info.symbols = {"ES"};
  EXPECT_THAT(symbols_of(es, FakeReader({bar_of(1, 1)}, info)), testing::ElementsAre("ES"));
}

TEST(BarSelector, AFileWithoutSymbolsIsTakenForTheProductUnlessOneIsAskedFor) {
  BarSelector any({});
  EXPECT_THAT(symbols_of(any, FakeReader({bar_of(1, 0)})), testing::ElementsAre(""));
  BarSelector one({.symbol = "ESZ3"});
  EXPECT_THAT(symbols_of(one, FakeReader({bar_of(1, 0)})), testing::IsEmpty());
  EXPECT_EQ(one.counters().unmapped, 1);
}

TEST(BarSelector, RefusesContractsThatTradeSideBySide) {
  EXPECT_THAT(refusal({bar_of(1, 0), bar_of(2, 0)}),
              testing::HasSubstr("ESZ3 and ESH4 trade side by side"));
  EXPECT_THAT(refusal({bar_of(1, 0), bar_of(2, 1), bar_of(1, 2)}),
              testing::HasSubstr("2013-10-07T22:02:00Z: contracts of ES are mixed, ESH4 and ESZ3"));
}

TEST(BarSelector, AllowsARollAndAReturnOnAnotherDay) {
  const std::int64_t day = 1440;
  EXPECT_EQ(refusal({bar_of(1, 0), bar_of(1, 1), bar_of(2, 2), bar_of(2, 3)}), "");
  EXPECT_EQ(refusal({bar_of(1, 0), bar_of(2, day), bar_of(1, 2 * day)}), "");
  EXPECT_EQ(refusal({bar_of(1, 0), bar_of(2, 1), bar_of(1, day), bar_of(2, day + 1)}), "");
}

TEST(BarSelector, ForgetsTheIdsOfAFileWithTheFile) {
  BarSelector selector({});
  EXPECT_EQ(symbols_of(selector, FakeReader({bar_of(1, 0)}, mapped({{1, "ESZ3"}}))).size(), 1U);
  EXPECT_EQ(symbols_of(selector, FakeReader({bar_of(1, 1)}, mapped({{1, "NQZ3"}}))).size(), 0U);
}

TEST(BarSelector, RefusesAProductWithoutACalendar) {
  EXPECT_THROW(BarSelector({.product = "XX"}), ConfigError);
}

}  // namespace
}  // namespace foxhunt::market
