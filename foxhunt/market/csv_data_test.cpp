// Calendar and CSV reader against real files, which are too large for the repository.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "foxhunt/market/calendar.h"
#include "foxhunt/market/dbn_test_support.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::market {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class RealCsv : public testing::Test {
 protected:
  void SetUp() override {
    if (test::shared_folder().empty()) GTEST_SKIP() << "FOXHUNT_SHARED is not set";
  }
  static std::unique_ptr<Reader> open(const char* name, const CsvFormat& format) {
    return open_reader(test::shared_folder() / "data" / name, {.csv = format});
  }
};

TEST_F(RealCsv, EveryEuroMinuteOfJanuary2024LiesInASession) {
  const auto reader = open("futures/6e/6EH4.XCME_1min_bars_20240101_20240131.csv.gz",
                           {.time_column = "timestamp_utc", .bar_stamp = "end", .symbol = "6EH4"});
  const Calendar calendar = Calendar::for_product("6E");
  std::map<Date, std::int64_t> bars;
  Session last;
  UnixNanos previous = kNullTime;
  while (const Record* record = reader->next()) {
    const Bar& bar = std::get<Bar>(*record);
    const auto session = calendar.session_at(bar.start);
    ASSERT_TRUE(session) << to_string(bar.start);
    ASSERT_LE(bar.end(), session->close);
    if (session->trade_date != last.trade_date && !is_null(previous)) {
      // Its first bar is the first minute of the session, its last one the last: the break between
      // is an hour (or a weekend), 61 minutes from stamp to stamp.
      EXPECT_EQ(bar.start, session->open);
      EXPECT_EQ(previous + minutes{1}, last.close);
      const auto weekday = std::chrono::weekday{std::chrono::sys_days{session->trade_date}};
      EXPECT_EQ(session->open - last.close, weekday == std::chrono::Monday ? hours{49} : hours{1});
    }
    last = *session;
    previous = bar.start;
    ++bars[session->trade_date];
  }
  EXPECT_EQ(reader->stats().records, 29'996);
  EXPECT_EQ(bars.size(), 23U) << "2 January to 1 February";
  EXPECT_EQ(bars.at(parse_date("2024-01-15")), 1262) << "a bank holiday, traded all day";
  std::int64_t missing = 0;
  for (const auto& [date, n] : bars) {
    if (date != parse_date("2024-02-01"))
      missing += calendar.session_on(date)->trading_time() / minutes{1} - n;
  }
  EXPECT_EQ(missing, 423) << "as counted by another program";
}

TEST_F(RealCsv, EveryEventBarOfTwoYearsOfEsLiesInASessionAndOutsideTheHalt) {
  const Calendar calendar = Calendar::for_product("ES");
  std::int64_t bars = 0;
  std::map<Date, std::int64_t> by_date;
  for (const char* name : {"tick", "volume", "dollar"}) {
    const auto reader = open((std::string("futures/es-event-bars/") + name + "_bars.csv").c_str(),
                             {.time_column = "date_time", .volume_column = "cum_vol"});
    while (const Record* record = reader->next()) {
      const UnixNanos t = std::get<Bar>(*record).start;
      const auto session = calendar.session_at(t);
      ASSERT_TRUE(session) << name << " " << to_string(t);
      ASSERT_FALSE(session->halted_at(t)) << name << " " << to_string(t);
      ++by_date[session->trade_date];
      ++bars;
    }
  }
  EXPECT_EQ(bars, 41'123 + 29'023 + 24'079);
  // And every session has bars: the table lists no session on a day without trading.
  for (const Session& s :
       calendar.sessions_between(parse_time("2015-01-02"), parse_time("2016-12-30"))) {
    EXPECT_GT(by_date[s.trade_date], 0) << to_string(s.trade_date);
  }
}

TEST_F(RealCsv, LongHourlySeriesKeepTheirPricesAndTheirUnfinishedLastLine) {
  const CsvFormat format{
      .time_column = "Time", .bar_seconds = 3600, .delimiter = "tab", .symbol = "USATECH"};
  const auto reader = open("index-cfd/USATECHIDXUSD_H1.csv", format);
  Bar last;
  while (const Record* record = reader->next()) last = std::get<Bar>(*record);
  EXPECT_EQ(reader->stats().records, 53'527);
  EXPECT_EQ(reader->info().schema, "ohlcv-1h");
  EXPECT_EQ(to_string(reader->info().start), "2013-05-22T15:00:00Z");
  EXPECT_EQ(to_string(last.start).substr(0, 10), "2023-09-11");
  EXPECT_FALSE(last.close.is_null());
}

}  // namespace
}  // namespace foxhunt::market
