#include "foxhunt/market/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/market/calendar.h"
#include "foxhunt/market/csv_test_support.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market {
namespace {

using std::chrono::minutes;
using test::csv;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kHeader = "ts_event,open,high,low,close,volume,symbol\n";

std::string row(UnixNanos t, const char* values = "2,3,1,2,10", const char* symbol = "ESZ13") {
  return to_string(t) + "," + values + "," + symbol + "\n";
}

Inspection inspect_csv(const std::string& rows, const InspectOptions& options = {}) {
  return inspect(*csv(kHeader + rows), options);
}

TEST(Inspect, SumsUpTheSampleAndFindsNothingWrong) {
  const Inspection i = inspect(*open_reader("data/es-sample/es-ohlcv-1m.dbn.zst"));
  EXPECT_EQ(i.records, 19'083);
  EXPECT_FALSE(i.has_errors());
  EXPECT_THAT(i.notes, IsEmpty());
  ASSERT_EQ(i.symbols.size(), 3U);
  EXPECT_EQ(i.symbols[0].symbol, "ESZ13");
  EXPECT_EQ(i.symbols[0].product, "ES");
  EXPECT_EQ(i.symbols[0].records, 15'002);
  EXPECT_EQ(i.symbols[0].outside_sessions + i.symbols[0].in_halt, 0);
  EXPECT_EQ(i.sessions.size(), 20U);
  std::int64_t bars = 0;
  for (const SessionReport& s : i.sessions) {
    const Session session = *Calendar::for_product("ES").session_on(s.trade_date);
    bars += s.bars;
    // What is there and what is missing fill the session.
    EXPECT_EQ(s.bars + s.missing_at_open + s.missing_inside + s.missing_at_close,
              session.trading_time() / minutes{1})
        << to_string(s.trade_date);
  }
  EXPECT_EQ(bars, 19'083);
  EXPECT_EQ(i.first_symbol, "ESZ13");
  EXPECT_EQ(i.last_symbol, "ESH20");
  EXPECT_EQ(to_string(index_time(*i.last)), "2020-01-06T23:59:00Z");
}

/// Minutes of a session without a bar, one by one.
SessionReport brute_force(const Session& session, const std::set<UnixNanos>& bars) {
  SessionReport want{.trade_date = session.trade_date};
  const UnixNanos first = *bars.lower_bound(session.open);
  const UnixNanos last = *std::prev(bars.lower_bound(session.close));
  for (UnixNanos t = session.open; t < session.close; t += minutes{1}) {
    if (bars.contains(t)) {
      ++want.bars;
    } else if (session.halted_at(t)) {
      continue;
    } else {
      ++(t < first ? want.missing_at_open : t < last ? want.missing_inside : want.missing_at_close);
    }
  }
  return want;
}

TEST(Inspect, CountsMissingMinutesAsALoopOverAllMinutesDoes) {
  const Calendar calendar = Calendar::for_product("ES");
  const auto sessions =
      calendar.sessions_between(parse_time("2013-11-26"), parse_time("2013-12-04"));
  Rng rng(11);
  for (int round = 0; round < 30; ++round) {
    std::string text;
    std::set<UnixNanos> bars;
    std::vector<Session> used;
    for (const Session& session : sessions) {
      if (rng.below(4) == 0) continue;  // a day without data
      const double density = rng.uniform(0.001, 1.0);
      bool any = false;
      for (UnixNanos t = session.open; t < session.close; t += minutes{1}) {
        if (session.halted_at(t) || rng.uniform() > density) continue;
        text += row(t);
        bars.insert(t);
        any = true;
      }
      if (any) used.push_back(session);
    }
    if (used.empty()) continue;
    const Inspection i = inspect_csv(text);
    ASSERT_EQ(i.sessions.size(), used.size());
    for (std::size_t k = 0; k < used.size(); ++k) {
      const SessionReport want = brute_force(used[k], bars);
      const SessionReport& got = i.sessions[k];
      EXPECT_EQ(got.trade_date, want.trade_date);
      EXPECT_EQ(got.bars, want.bars);
      EXPECT_EQ(got.missing_at_open, want.missing_at_open) << to_string(want.trade_date);
      EXPECT_EQ(got.missing_inside, want.missing_inside) << to_string(want.trade_date);
      EXPECT_EQ(got.missing_at_close, want.missing_at_close) << to_string(want.trade_date);
      EXPECT_EQ(got.early_close, used[k].early_close);
    }
    const auto whole = calendar.sessions_between(used.front().open, used.back().close);
    EXPECT_EQ(i.symbols[0].sessions_without_bars,
              static_cast<std::int64_t>(whole.size() - used.size()));
  }
}

TEST(Inspect, CountsBarsOutsideSessionsAndInTheHalt) {
  const Inspection i =
      inspect_csv(row(parse_time("2013-10-08T20:14Z")) + row(parse_time("2013-10-08T20:20Z")) +
                  row(parse_time("2013-10-08T21:14Z")) + row(parse_time("2013-10-08T21:15Z")) +
                  row(parse_time("2013-10-08T22:00Z")) + row(parse_time("2013-10-12T12:00Z")));
  EXPECT_EQ(i.symbols.at(0).outside_sessions, 2);
  EXPECT_EQ(i.symbols.at(0).in_halt, 1);
  EXPECT_EQ(i.symbols.at(0).sessions, 2);
  EXPECT_FALSE(i.has_errors()) << "closed hours are no error of the data";
}

TEST(Inspect, CountsBadBarsOncePerKind) {
  const UnixNanos t = parse_time("2013-10-08T12:00Z");
  const Inspection i =
      inspect_csv(row(t, "2,3,1,2,10") + row(t + minutes{1}, "2,3,1,4,10") +  // close over high
                  row(t + minutes{2}, "2,3,2.5,3,10") +                       // open under low
                  row(t + minutes{3}, "2,,1,2,10") +                          // no high
                  row(t + minutes{3}, "2,,1,2,10") +                          // the same again
                  row(t + minutes{3}, "2,3,1,2,10") +                         // another one
                  row(t + minutes{1}, "2,3,1,2,10") +                         // back in time
                  row(t + minutes{4}, "2,2,2,2,0"));
  EXPECT_EQ(i.records, 8);
  EXPECT_EQ(i.bad_ohlc, 2);
  EXPECT_EQ(i.null_prices, 2);
  EXPECT_EQ(i.duplicates, 2);
  EXPECT_EQ(i.conflicting, 1);
  EXPECT_EQ(i.out_of_order, 1);
  EXPECT_EQ(i.null_times, 0);
  EXPECT_TRUE(i.has_errors());
  EXPECT_EQ(i.sessions.at(0).bars, 5) << "each minute once, in order";
}

TEST(Inspect, KeepsSymbolsApart) {
  const UnixNanos t = parse_time("2013-12-18T12:00Z");
  const Inspection i = inspect_csv(row(t, "2,3,1,2,10", "ESZ13") + row(t, "2,3,1,2,20", "ESH14") +
                                   row(t + minutes{2}, "2,3,1,2,1", "ESZ13") +
                                   row(t + minutes{2}, "5,5,5,5,1", "ESH14-ESZ13"));
  EXPECT_EQ(i.duplicates, 0) << "two contracts may trade in one minute";
  EXPECT_EQ(i.out_of_order, 0);
  ASSERT_EQ(i.symbols.size(), 3U);
  EXPECT_EQ(i.symbols[0].volume, 11U);
  EXPECT_EQ(i.symbols[1].volume, 20U);
  EXPECT_EQ(i.symbols[1].product, "ES");
  EXPECT_EQ(i.symbols[2].product, "") << "a spread is held against nothing";
  ASSERT_EQ(i.sessions.size(), 2U);
  EXPECT_EQ(i.sessions[0].missing_inside, 1);
  EXPECT_THAT(i.notes, ElementsAre(HasSubstr("1 of 3 symbols are not held against trading hours")));
}

TEST(Inspect, FollowsAnIdThatIsAnotherSymbolOnTheNextUtcDay) {
  const Inspection i =
      inspect(*csv("ts_event,instrument_id,open,high,low,close,volume,symbol\n"
                   "2013-12-18T23:59Z,7,2,3,1,2,10,ESZ13\n"
                   "2013-12-19T00:00Z,7,2,3,1,2,20,NQH14\n"));
  ASSERT_EQ(i.symbols.size(), 2U);
  EXPECT_EQ(i.symbols[0].symbol, "ESZ13");
  EXPECT_EQ(i.symbols[0].volume, 10U);
  EXPECT_EQ(i.symbols[1].symbol, "NQH14");
  EXPECT_EQ(i.symbols[1].product, "NQ");
}

TEST(Inspect, TakesTheHoursOfTheProductThatIsNamed) {
  const UnixNanos thanksgiving = parse_time("2013-11-28T17:00Z");  // ES is closed, ZN not yet
  EXPECT_EQ(inspect_csv(row(thanksgiving, "2,3,1,2,10", "SP500")).symbols.at(0).product, "");
  EXPECT_EQ(inspect_csv(row(thanksgiving, "2,3,1,2,10", "SP500"), {.product = "ES"})
                .symbols.at(0)
                .outside_sessions,
            1);
  EXPECT_EQ(inspect_csv(row(thanksgiving, "2,3,1,2,10", "SP500"), {.product = "ZN"})
                .symbols.at(0)
                .outside_sessions,
            0);
  EXPECT_THROW(inspect_csv(row(thanksgiving), {.product = "SP"}), ConfigError);
}

TEST(Inspect, SaysWhereTheCalendarKnowsNoHolidays) {
  EXPECT_THAT(inspect_csv(row(parse_time("2013-10-08T12:00Z"), "2,3,1,2,1", "GCZ13")).notes,
              ElementsAre(HasSubstr("the calendar of GC lists holidays from 2024-01-01 to")));
  EXPECT_THAT(inspect_csv(row(parse_time("2024-10-08T12:00Z"), "2,3,1,2,1", "GCZ24")).notes,
              IsEmpty());
}

TEST(Inspect, SaysThatThereAreNoRecords) {
  const Inspection i = inspect_csv("");
  EXPECT_EQ(i.records, 0);
  EXPECT_FALSE(i.first);
  EXPECT_THAT(i.notes, ElementsAre("no records"));
  const Inspection dbn = inspect(*open_reader(test::fixture("test_data.ohlcv-1d.v3.dbn.zst")));
  EXPECT_EQ(dbn.records, 0);
  EXPECT_EQ(dbn.info.schema, "ohlcv-1d");
}

TEST(Inspect, CountsRecordsOfTypesThatAreNotRead) {
  std::string unknown = test::record_head(0x77, 24, 1).str() + std::string(8, 'x');
  const Inspection i = inspect(*test::dbn_reader(test::plain_metadata() + unknown + unknown));
  EXPECT_EQ(i.records, 2);
  EXPECT_EQ(i.stats.by_rtype, (std::map<int, std::int64_t>{{0x77, 2}}));
  EXPECT_EQ(i.stats.skipped_by_rtype, (std::map<int, std::int64_t>{{0x77, 2}}));
  EXPECT_FALSE(i.first);
}

TEST(Inspect, ReadsTradesBooksAndDefinitions) {
  const Inspection trades = inspect(*open_reader(test::fixture("test_data.trades.v3.dbn.zst")));
  EXPECT_EQ(trades.symbols.at(0).symbol, "ESH1");
  EXPECT_EQ(trades.symbols.at(0).product, "ES");
  EXPECT_EQ(trades.symbols.at(0).volume, 26U);
  EXPECT_EQ(trades.symbols.at(0).outside_sessions, 0);
  EXPECT_FALSE(trades.has_errors());
  const Inspection book = inspect(*open_reader(test::fixture("test_data.mbp-1.v3.dbn.zst")));
  EXPECT_EQ(book.records, 2);
  EXPECT_EQ(book.crossed + book.locked + book.empty_sides, 0);
  const Inspection definitions =
      inspect(*open_reader(test::fixture("test_data.definition.v3.dbn.zst")));
  EXPECT_EQ(definitions.symbols.at(0).symbol, "MSFT");
}

TEST(Inspect, CountsCrossedLockedAndEmptyBooks) {
  const std::string header =
      "ts_recv,ts_event,action,side,price,size,bid_px_00,ask_px_00,bid_sz_00,ask_sz_00,bid_ct_00,"
      "ask_ct_00\n";
  std::string text = header;
  for (const char* sides : {"5,6", "6,6", "7,6", ",6", "5,", ","}) {
    text += "2013-10-08T12:00Z,2013-10-08T12:00Z,A,B,5,1," + std::string(sides) + ",1,1,1,1\n";
  }
  const Inspection i = inspect(*csv(text));
  EXPECT_EQ(i.locked, 1);
  EXPECT_EQ(i.crossed, 1);
  EXPECT_EQ(i.empty_sides, 3);
  EXPECT_EQ(i.duplicates, 0) << "book updates may share a time";
}

TEST(Inspect, ReportsAFileThatIsCutShort) {
  const std::string bytes = test::plain_metadata(6) + test::bar_record(0x21, 1, 10, 3);
  const Inspection i = inspect(*test::dbn_reader(bytes + std::string("\x0E\x21", 2)));
  EXPECT_EQ(i.records, 1);
  EXPECT_TRUE(i.stats.truncated);
  EXPECT_EQ(i.stats.rest_bytes, 2);
  EXPECT_TRUE(i.has_errors());
}

}  // namespace
}  // namespace foxhunt::market
