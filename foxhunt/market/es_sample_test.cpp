// The bars that come with the project: what data/es-sample/README.md says of them is true.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "foxhunt/market/calendar.h"
#include "foxhunt/market/contract.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::market {
namespace {

constexpr const char* kBars = "data/es-sample/es-ohlcv-1m.dbn.zst";
constexpr const char* kDefinitions = "data/es-sample/es-definition.dbn.zst";

TEST(EsSample, HoldsTheBarsOfSixteenDaysByTradeDate) {
  // Counted from the source files by another program.
  const std::map<std::string, int> want = {
      {"2013-10-07", 1348}, {"2013-10-08", 1366}, {"2013-10-09", 1376}, {"2013-10-10", 1363},
      {"2013-10-11", 1373}, {"2013-10-14", 1255}, {"2013-10-15", 117},  {"2013-10-29", 1227},
      {"2013-10-30", 1354}, {"2013-10-31", 120},  {"2013-11-18", 1302}, {"2013-11-19", 59},
      {"2013-12-02", 1310}, {"2013-12-03", 1372}, {"2013-12-04", 60},   {"2013-12-18", 1289},
      {"2013-12-19", 59},   {"2013-12-20", 1308}, {"2020-01-06", 1365}, {"2020-01-07", 60}};
  const Calendar calendar = Calendar::for_product("ES");
  const auto reader = open_reader(kBars);
  std::map<std::string, int> got;
  std::set<Date> utc_dates;
  std::uint64_t volume = 0;
  while (const Record* record = reader->next()) {
    const Bar& bar = std::get<Bar>(*record);
    const auto session = calendar.session_at(bar.start);
    ASSERT_TRUE(session) << to_string(bar.start) << " is outside every session";
    ASSERT_LE(bar.end(), session->close) << to_string(bar.start);
    ASSERT_FALSE(session->halted_at(bar.start)) << to_string(bar.start);
    ++got[to_string(session->trade_date)];
    utc_dates.insert(utc_date(bar.start));
    volume += bar.volume;
  }
  EXPECT_EQ(got, want);
  EXPECT_EQ(utc_dates.size(), 16U);
  EXPECT_EQ(volume, 19'013'072U);
  EXPECT_EQ(reader->stats().records, 19'083);
  EXPECT_FALSE(reader->stats().truncated);
}

TEST(EsSample, IsInOrderAndConsistentOnTheTickGrid) {
  const std::int64_t tick = contract_for_product("ES").tick.nano;
  const auto reader = open_reader(kBars);
  UnixNanos last = kNullTime;
  while (const Record* record = reader->next()) {
    const Bar& bar = std::get<Bar>(*record);
    ASSERT_GT(bar.start, last);
    ASSERT_EQ(bar.span, std::chrono::minutes{1});
    ASSERT_EQ(std::chrono::floor<std::chrono::minutes>(bar.start), bar.start);
    for (const Price price : {bar.open, bar.high, bar.low, bar.close}) {
      ASSERT_FALSE(price.is_null());
      ASSERT_EQ(price.nano % tick, 0);
      ASSERT_GE(price.nano, 1'640'000'000'000);  // the lowest and the highest price of the sample
      ASSERT_LE(price.nano, 3'249'500'000'000);
    }
    const auto [low, high] =
        std::minmax({bar.open.nano, bar.high.nano, bar.low.nano, bar.close.nano});
    ASSERT_EQ(bar.high.nano, high);
    ASSERT_EQ(bar.low.nano, low);
    ASSERT_GT(bar.volume, 0U);
    last = bar.start;
  }
}

TEST(EsSample, NamesTheContractOfEveryBar) {
  const auto reader = open_reader(kBars);
  EXPECT_EQ(reader->info().version, 3);
  EXPECT_EQ(reader->info().dataset, "LEAN.ES");
  EXPECT_EQ(reader->info().schema, "ohlcv-1m");
  EXPECT_EQ(to_string(reader->info().start), "2013-10-06T22:00:00Z");
  EXPECT_EQ(to_string(reader->info().end), "2020-01-07T00:00:00Z");
  std::map<std::string, int> bars;
  while (const Record* record = reader->next()) {
    ++bars[reader->symbol_of(instrument_of(*record), index_time(*record))];
  }
  EXPECT_EQ(bars,
            (std::map<std::string, int>{{"ESZ13", 15'002}, {"ESH14", 2'656}, {"ESH20", 1'425}}));
}

TEST(EsSample, DefinesItsContracts) {
  const auto reader = open_reader(kDefinitions);
  const std::map<std::string, std::string> expirations = {{"ESZ13", "2013-12-20T14:30:00Z"},
                                                          {"ESH14", "2014-03-21T13:30:00Z"},
                                                          {"ESH20", "2020-03-20T13:30:00Z"}};
  const Contract& es = contract_for_product("ES");
  std::size_t count = 0;
  for (; const Record* record = reader->next(); ++count) {
    const Definition& d = std::get<Definition>(*record);
    EXPECT_EQ(product_of_symbol(d.raw_symbol), d.asset);
    EXPECT_EQ(d.instrument_class, 'F');
    EXPECT_EQ(d.min_price_increment, es.tick);
    EXPECT_EQ(d.unit_of_measure_qty.to_double(), es.multiplier);
    ASSERT_TRUE(d.expiration);
    EXPECT_EQ(to_string(*d.expiration), expirations.at(d.raw_symbol));
    EXPECT_EQ(reader->symbol_of(d.instrument, d.ts_recv), d.raw_symbol);
  }
  EXPECT_EQ(count, 3U);
}

}  // namespace
}  // namespace foxhunt::market
