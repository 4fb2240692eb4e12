#include "foxhunt/market/calendar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/market/calendar_set.h"

namespace foxhunt::market {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::sys_days;

Session session(const Calendar& calendar, const char* date) {
  const auto found = calendar.session_on(parse_date(date));
  EXPECT_TRUE(found) << calendar.product() << " has no session on " << date;
  return found.value_or(Session{});
}

/// "open close" in UTC, as a person would read it off a clock.
std::string span_of(const Session& s) { return to_string(s.open) + " " + to_string(s.close); }

/// Chicago's offset by the rule of US law since 2007: daylight time from the second Sunday of March
/// to the first Sunday of November. Good for days on which a session opens or closes.
hours chicago_offset(sys_days day) {
  const auto year = Date{day}.year();
  const sys_days spring = year / 3 / std::chrono::Sunday[2];
  const sys_days autumn = year / 11 / std::chrono::Sunday[1];
  return hours{day >= spring && day < autumn ? -5 : -6};
}

TEST(Calendar, Pitfall28OpensAndClosesAtTheSameChicagoTimeOnBothSidesOfTheClockChanges) {
  const Calendar es = Calendar::for_product("ES");
  EXPECT_EQ(span_of(session(es, "2013-03-08")), "2013-03-07T23:00:00Z 2013-03-08T22:15:00Z");
  EXPECT_EQ(span_of(session(es, "2013-03-11")), "2013-03-10T22:00:00Z 2013-03-11T21:15:00Z");
  EXPECT_EQ(span_of(session(es, "2013-11-01")), "2013-10-31T22:00:00Z 2013-11-01T21:15:00Z");
  EXPECT_EQ(span_of(session(es, "2013-11-04")), "2013-11-03T23:00:00Z 2013-11-04T22:15:00Z");
}

TEST(Calendar, KnowsTheHoursOfEachEra) {
  const Calendar es = Calendar::for_product("ES");
  EXPECT_EQ(span_of(session(es, "2012-11-16")), "2012-11-15T23:00:00Z 2012-11-16T21:15:00Z");
  EXPECT_EQ(span_of(session(es, "2012-11-19")), "2012-11-18T23:00:00Z 2012-11-19T22:15:00Z");
  EXPECT_EQ(span_of(session(es, "2015-09-18")), "2015-09-17T22:00:00Z 2015-09-18T21:15:00Z");
  EXPECT_EQ(span_of(session(es, "2015-09-21")), "2015-09-20T22:00:00Z 2015-09-21T21:00:00Z");
  EXPECT_EQ(span_of(session(es, "2024-07-02")), "2024-07-01T22:00:00Z 2024-07-02T21:00:00Z");
  const Calendar gold = Calendar::for_product("GC");
  EXPECT_EQ(span_of(session(gold, "2013-10-08")), "2013-10-07T22:00:00Z 2013-10-08T21:15:00Z");
  const Calendar note = Calendar::for_product("ZN");
  EXPECT_EQ(span_of(session(note, "2013-10-08")), "2013-10-07T22:00:00Z 2013-10-08T21:00:00Z");
}

TEST(Calendar, HaltsEquityIndicesForAQuarterOfAnHourUntilJune2021) {
  const Calendar es = Calendar::for_product("ES");
  const Session old = session(es, "2013-10-08");
  EXPECT_EQ(to_string(old.halt_start), "2013-10-08T20:15:00Z");
  EXPECT_EQ(to_string(old.halt_end), "2013-10-08T20:30:00Z");
  EXPECT_EQ(old.trading_time(), hours{23});
  EXPECT_TRUE(old.halted_at(parse_time("2013-10-08T20:29:59Z")));
  EXPECT_FALSE(old.halted_at(parse_time("2013-10-08T20:30Z")));
  EXPECT_TRUE(es.session_at(parse_time("2013-10-08T20:20Z"))) << "a halt does not end the session";

  EXPECT_FALSE(is_null(session(es, "2021-06-25").halt_start));
  const Session now = session(es, "2021-06-28");
  EXPECT_TRUE(is_null(now.halt_start));
  EXPECT_EQ(now.trading_time(), hours{23});
  EXPECT_FALSE(now.halted_at(now.open));
  EXPECT_TRUE(is_null(session(es, "2013-11-29").halt_start)) << "closed before the halt";
  EXPECT_TRUE(is_null(session(Calendar::for_product("6E"), "2013-10-08").halt_start));
}

TEST(Calendar, ClosesEarlyOnThanksgivingAndOpensAgainInTheEvening) {
  const Calendar es = Calendar::for_product("ES");
  const Session thursday = session(es, "2013-11-28");
  EXPECT_EQ(span_of(thursday), "2013-11-27T23:00:00Z 2013-11-28T16:30:00Z");
  EXPECT_TRUE(thursday.early_close);
  EXPECT_EQ(es.session_at(parse_time("2013-11-28T16:29:59Z"))->trade_date,
            parse_date("2013-11-28"));
  EXPECT_FALSE(es.session_at(parse_time("2013-11-28T16:30Z")));
  EXPECT_FALSE(es.session_at(parse_time("2013-11-28T22:59Z")));
  const Session friday = session(es, "2013-11-29");
  EXPECT_EQ(span_of(friday), "2013-11-28T23:00:00Z 2013-11-29T18:15:00Z");
  EXPECT_FALSE(session(es, "2013-11-27").early_close);

  EXPECT_EQ(span_of(session(Calendar::for_product("ZN"), "2024-11-28")),
            "2024-11-27T23:00:00Z 2024-11-28T18:00:00Z");
}

TEST(Calendar, OpensOnTheEveningOfAHolidayForTheNextTradeDate) {
  for (const char* product : {"ES", "NQ", "MES", "MNQ", "ZN", "6E"}) {
    const Calendar calendar = Calendar::for_product(product);
    for (const char* year : {"2013", "2023", "2024", "2025"}) {
      const std::string december = std::string(year) + "-12-";
      EXPECT_FALSE(calendar.session_on(parse_date(december + "25"))) << product << " " << year;
      EXPECT_FALSE(calendar.session_at(parse_time(december + "25T16:00Z")))
          << product << " " << year;
      EXPECT_EQ(to_string(session(calendar, (december + "26").c_str()).open),
                december + "25T23:00:00Z")
          << product;
    }
  }
  // Christmas on a Sunday: the Monday is off too, and trading starts on its evening.
  const Calendar es = Calendar::for_product("ES");
  EXPECT_FALSE(es.session_on(parse_date("2016-12-26")));
  EXPECT_FALSE(es.session_at(parse_time("2016-12-25T23:30Z")));
  EXPECT_EQ(to_string(session(es, "2016-12-27").open), "2016-12-26T23:00:00Z");
}

TEST(Calendar, TakesTheEveOfTheFourthOfJulyAsAnEarlyCloseOnly) {
  const Calendar es = Calendar::for_product("ES");
  EXPECT_EQ(span_of(session(es, "2013-07-03")), "2013-07-02T22:00:00Z 2013-07-03T17:15:00Z");
  EXPECT_EQ(span_of(session(es, "2013-07-04")), "2013-07-03T22:00:00Z 2013-07-04T15:30:00Z");
}

TEST(Calendar, StaysClosedOnGoodFridayUnlessTheTableHasAShortSession) {
  const Calendar es = Calendar::for_product("ES");
  for (const char* date : {"2013-03-29", "2014-04-18", "2016-03-25", "2024-03-29", "2025-04-18"}) {
    EXPECT_FALSE(es.session_on(parse_date(date))) << date;
    const UnixNanos eve = sys_days{parse_date(date)};
    EXPECT_FALSE(es.session_at(eve - minutes{30})) << "evening before " << date;
  }
  EXPECT_EQ(span_of(session(es, "2015-04-03")), "2015-04-02T22:00:00Z 2015-04-03T13:15:00Z");
}

TEST(Calendar, StartsTheWeekOnSundayEvening) {
  const Calendar es = Calendar::for_product("ES");
  EXPECT_FALSE(es.session_at(parse_time("2013-10-04T21:15Z"))) << "Friday's close";
  EXPECT_FALSE(es.session_at(parse_time("2013-10-05T12:00Z"))) << "Saturday";
  EXPECT_FALSE(es.session_at(parse_time("2013-10-06T21:59:59.999999999Z")));
  const auto sunday = es.session_at(parse_time("2013-10-06T22:00Z"));
  ASSERT_TRUE(sunday);
  EXPECT_EQ(sunday->trade_date, parse_date("2013-10-07")) << "Sunday evening belongs to Monday";
}

TEST(Calendar, IsClosedInTheDailyBreak) {
  const Calendar euro = Calendar::for_product("6E");
  EXPECT_EQ(euro.session_at(parse_time("2024-01-10T21:59Z"))->trade_date, parse_date("2024-01-10"));
  for (int minute = 0; minute < 60; ++minute) {
    EXPECT_FALSE(euro.session_at(parse_time("2024-01-10T22:00Z") + minutes{minute})) << minute;
  }
  EXPECT_EQ(euro.session_at(parse_time("2024-01-10T23:00Z"))->trade_date, parse_date("2024-01-11"));
}

TEST(Calendar, KeepsFxOpenAllDayOnBankHolidaysWhereTheTableSaysSo) {
  const Session day = session(Calendar::for_product("6E"), "2024-01-15");
  EXPECT_EQ(span_of(day), "2024-01-14T23:00:00Z 2024-01-15T22:00:00Z");
  EXPECT_FALSE(day.early_close);
  EXPECT_TRUE(session(Calendar::for_product("ES"), "2024-01-15").early_close);
}

TEST(Calendar, CountsTheTradeDatesOfAYear) {
  const auto count_of = [](const char* product, int year) {
    const auto all = Calendar::for_product(product).sessions_between(
        sys_days{std::chrono::year{year} / 1 / 2}, sys_days{std::chrono::year{year} / 12 / 31});
    return all.size();
  };
  // 2013 has 259 weekdays from 2 January to 30 December, and the session of the 31st opens on the
  // 30th; closed: Good Friday and Christmas.
  EXPECT_EQ(count_of("ES", 2013), 258U);
  EXPECT_EQ(count_of("6E", 2013), 258U);
  // 2024: 261 weekdays from 2 January to 31 December; closed: Good Friday and Christmas.
  EXPECT_EQ(count_of("ES", 2024), 259U);
  EXPECT_EQ(count_of("ZN", 2024), 259U);
}

class EveryProduct : public testing::TestWithParam<std::string> {};

TEST_P(EveryProduct, HasSessionsInOrderThatNeverOverlapAndOpenAtFiveInChicago) {
  const Calendar calendar = Calendar::for_product(GetParam());
  const auto sessions =
      calendar.sessions_between(parse_time("2007-04-01"), parse_time("2037-01-01"));
  ASSERT_GT(sessions.size(), 7000U);
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const Session& s = sessions[i];
    const sys_days day = s.trade_date;
    ASSERT_LT(s.open, s.close) << to_string(s.trade_date);
    EXPECT_EQ(s.open, day - days{1} + hours{17} - chicago_offset(day - days{1}))
        << to_string(s.trade_date);
    // From Good Friday's 08:15 to the 16:15 of old.
    EXPECT_GE(s.close, day + hours{8} + minutes{15} - chicago_offset(day))
        << to_string(s.trade_date);
    EXPECT_LE(s.close, day + hours{16} + minutes{15} - chicago_offset(day))
        << to_string(s.trade_date);
    EXPECT_TRUE(is_null(s.halt_start) || (s.open < s.halt_start && s.halt_end < s.close));
    if (i > 0) {
      ASSERT_GT(s.open, sessions[i - 1].close) << to_string(s.trade_date);
      ASSERT_GT(s.trade_date, sessions[i - 1].trade_date);
    }
  }
}

TEST_P(EveryProduct, AnswersForATimeWhatAScanOfAllSessionsAnswers) {
  const Calendar calendar = Calendar::for_product(GetParam());
  const auto sessions =
      calendar.sessions_between(parse_time("2013-01-01"), parse_time("2014-01-01"));
  Rng rng(7);
  for (int i = 0; i < 2000; ++i) {
    const UnixNanos t = parse_time("2013-01-02") + minutes{rng.below(std::uint64_t{360} * 1440)};
    std::optional<Session> want;
    for (const Session& s : sessions) {
      if (s.open <= t && t < s.close) want = s;
    }
    ASSERT_EQ(calendar.session_at(t), want) << to_string(t);
  }
}

TEST_P(EveryProduct, GivesTheSessionsThatOverlapARange) {
  const Calendar calendar = Calendar::for_product(GetParam());
  const Session s = session(calendar, "2013-10-08");
  const auto dates = [&](UnixNanos from, UnixNanos to) {
    std::vector<std::string> names;
    for (const Session& found : calendar.sessions_between(from, to))
      names.push_back(to_string(found.trade_date));
    return names;
  };
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(dates(s.open, s.close), ElementsAre("2013-10-08"));
  EXPECT_THAT(dates(s.open - minutes{1}, s.open), IsEmpty());
  EXPECT_THAT(dates(s.close, s.close + minutes{1}), IsEmpty());
  EXPECT_THAT(dates(s.close - minutes{1}, s.close + hours{3}),
              ElementsAre("2013-10-08", "2013-10-09"));
  EXPECT_THAT(dates(s.close, s.open), IsEmpty()) << "reversed";
}

TEST(CalendarSet, MakesEachOnceAndKnowsWhichThereAreNot) {
  CalendarSet set;
  EXPECT_EQ(set.find("XY"), nullptr);
  EXPECT_THROW(set.at("XY"), ConfigError);
  const Calendar* es = set.find("ES");
  ASSERT_NE(es, nullptr);
  EXPECT_EQ(es->product(), "ES");
  EXPECT_NE(set.find("6E"), es);
  EXPECT_EQ(&set.at("ES"), es);
  EXPECT_EQ(set.all().size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryProduct, testing::ValuesIn(Calendar::products()),
                         [](const auto& product) { return "P" + product.param; });

TEST(Calendar, SaysFromWhenToWhenHolidaysAreListed) {
  EXPECT_EQ(to_string(Calendar::for_product("ES").holidays_from()), "1998-01-01");
  EXPECT_EQ(to_string(Calendar::for_product("ES").holidays_until()), "2027-06-18");
  EXPECT_EQ(to_string(Calendar::for_product("GC").holidays_from()), "2024-01-01");
}

TEST(Calendar, NamesTheKnownProductsWhenAskedForAnother) {
  try {
    Calendar::for_product("EX");
    FAIL() << "expected ConfigError";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(
        error.what(),
        "[market] product 'EX' is not known (did you mean 'ES'?); the table holds ES, NQ, MES, "
        "MNQ, ZN, 6E, GC");
  }
}

}  // namespace
}  // namespace foxhunt::market
