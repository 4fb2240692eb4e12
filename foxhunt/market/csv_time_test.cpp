#include "foxhunt/market/csv_time.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/market/csv_test_support.h"

namespace foxhunt::market {
namespace {

using test::error_of;

/// The time as text in UTC, or the rule it breaks.
std::string utc(const CsvTimeParser& parser, std::string_view text) {
  UnixNanos t{};
  const std::string rule = parser.parse(text, t);
  return rule.empty() ? to_string(t) : rule;
}

TEST(CsvTime, ReadsIsoTimesToTheNanosecond) {
  const CsvTimeParser iso("iso", "UTC");
  EXPECT_EQ(utc(iso, "2020-12-28T13:00:00.006136329Z"), "2020-12-28T13:00:00.006136329Z");
  EXPECT_EQ(utc(iso, "2020-12-28 13:00:00.5"), "2020-12-28T13:00:00.500000000Z");
  EXPECT_EQ(utc(iso, "2021-12-31 23:01:00.000000"), "2021-12-31T23:01:00Z");
  EXPECT_EQ(utc(iso, "2020-12-28T13:00"), "2020-12-28T13:00:00Z");
  EXPECT_EQ(utc(iso, "2020-12-28"), "2020-12-28T00:00:00Z");
  EXPECT_EQ(utc(iso, "2012-02-01 00:00:00+00:00"), "2012-02-01T00:00:00Z");
  EXPECT_EQ(utc(iso, "2012-02-01 00:00:00-0530"), "2012-02-01T05:30:00Z");
  EXPECT_EQ(utc(iso, "2012-02-01 00:00:00+03"), "2012-01-31T21:00:00Z");
}

TEST(CsvTime, RefusesWhatIsNoIsoTime) {
  const CsvTimeParser iso("iso", "UTC");
  for (const char* text :
       {"", "2020", "2020-1-1", "2020-13-01", "2021-02-29", "2020-12-28T24:00", "2020-12-28T13:60",
        "2020-12-28T13:00:60", "2020-12-28T13:00:00.", "2020-12-28T13:00:00.1234567890",
        "2020-12-28T13:00:00ZZ", "2020-12-28T13:00:00+", "2020-12-28T13:00:00+1:00",
        "2020-12-28x13:00", "28.12.2020", "1609160400000000000", "2020-12-28T13:00:00 "}) {
    EXPECT_EQ(utc(iso, text), "is no time such as 2020-12-28T13:00:00.006Z") << "'" << text << "'";
  }
  for (const char* text : {"0000-01-01", "1677-12-31", "2262-01-01", "9999-12-31T23:59:59Z"}) {
    EXPECT_EQ(utc(iso, text), "lies outside the years 1678 to 2261") << text;
  }
}

TEST(CsvTime, ReadsCountsSince1970) {
  EXPECT_EQ(utc(CsvTimeParser("unix_s", "UTC"), "1609160400"), "2020-12-28T13:00:00Z");
  EXPECT_EQ(utc(CsvTimeParser("unix_ms", "UTC"), "1609160400006"),
            "2020-12-28T13:00:00.006000000Z");
  EXPECT_EQ(utc(CsvTimeParser("unix_us", "UTC"), "-1"), "1969-12-31T23:59:59.999999000Z");
  EXPECT_EQ(utc(CsvTimeParser("unix_ns", "UTC"), "1609160400098821953"),
            "2020-12-28T13:00:00.098821953Z");
  EXPECT_EQ(utc(CsvTimeParser("unix_s", "UTC"), "1609160400.5"), "is no whole number");
  // Room for a bar's length on both sides: 2^63-1 is a number, but no time.
  EXPECT_EQ(utc(CsvTimeParser("unix_ns", "UTC"), "9223372036854775807"),
            "lies outside the years 1678 to 2261");
  EXPECT_EQ(utc(CsvTimeParser("unix_ns", "UTC"), "-9223372036854775807"),
            "lies outside the years 1678 to 2261");
  EXPECT_EQ(utc(CsvTimeParser("unix_s", "UTC"), "9223372037"),
            "lies outside -9223372036 to 9223372036");
}

TEST(CsvTime, ReadsNamedFieldsWithTheOffsetTheyCarry) {
  const CsvTimeParser fields("%d.%m.%Y %H:%M:%S GMT%z", "America/Chicago");
  EXPECT_EQ(utc(fields, "04.09.2023 01:00:05.962 GMT+0300"), "2023-09-03T22:00:05.962000000Z");
  const CsvTimeParser compact("%Y%m%d %H%M%S", "America/New_York");
  EXPECT_EQ(utc(compact, "20200101 170000"), "2020-01-01T22:00:00Z");
  EXPECT_EQ(utc(compact, "20200701 170000"), "2020-07-01T21:00:00Z");
  EXPECT_EQ(utc(compact, "20200701 17000x"), "does not have the form %Y%m%d %H%M%S");
  EXPECT_EQ(utc(compact, "20200701 170000 more"), "does not have the form %Y%m%d %H%M%S");
  EXPECT_EQ(utc(compact, "20200231 170000"), "does not have the form %Y%m%d %H%M%S");
  EXPECT_EQ(utc(CsvTimeParser("%Y-%m-%d", "UTC"), "9999-01-01"),
            "lies outside the years 1678 to 2261");
  EXPECT_EQ(utc(CsvTimeParser("%H:%M", "UTC"), "10:00"), "does not have the form %H:%M");
}

TEST(CsvTime, RefusesFieldsThatAreNotThereOrAreNoNumbers) {
  const CsvTimeParser fields("%Y-%m-%d %H:%M:%S", "UTC");
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {"2020-12-28 13:00:\xB0"sv, "2020-12-28 13:00:x"sv, "2020-12-28 13:00:"sv,
        "2020-12-28 13:00:999999999999"sv, "2020-12-28 13:00:60"sv, "2020-12-28 24:00:00"sv,
        "2020-12-28 13:60:00"sv, "2020-12-28 13:00:59."sv, "2020-12-28 13:00:59.1234567890"sv,
        "2020-12-28 13:00:59.5.5"sv, "2020-12-28 13:00:59.x"sv, "99999-12-28 13:00:00"sv,
        "-999-12-28 13:00:00"sv, "2020-12-28"sv, ""sv, "2020-12-28 13:00:59\0 more"sv}) {
    EXPECT_EQ(utc(fields, text), "does not have the form %Y-%m-%d %H:%M:%S") << text;
  }
  for (const char* format : {"%d", "%m-%d", "%Y-%m", "%Y", "%Y-%d"}) {  // no whole date
    EXPECT_EQ(utc(CsvTimeParser(format, "UTC"), std::string(format) == "%Y-%d"   ? "2020-12"
                                                : std::string(format) == "%m-%d" ? "12-11"
                                                : std::string(format) == "%Y-%m" ? "2020-12"
                                                : std::string(format) == "%d"    ? "12"
                                                                                 : "2020"),
              std::string("does not have the form ") + format);
  }
  EXPECT_THROW(CsvTimeParser("%s", "UTC"), ConfigError) << "strptime's would be local time";
}

TEST(CsvTime, ReadsTwelveHoursMonthNamesAndDaysOfTheYear) {
  EXPECT_EQ(utc(CsvTimeParser("%b %d %Y %I:%M:%S %p", "UTC"), "Dec 28 2020 01:00:59.5 PM"),
            "2020-12-28T13:00:59.500000000Z");
  EXPECT_EQ(utc(CsvTimeParser("%Y/%j", "UTC"), "2020/366"), "2020-12-31T00:00:00Z");
  EXPECT_EQ(utc(CsvTimeParser("%Y/%j", "UTC"), "2021/366"), "does not have the form %Y/%j");
  EXPECT_EQ(utc(CsvTimeParser("%FT%T%z", "UTC"), "2020-12-28T13:00:59.25-05:30"),
            "2020-12-28T18:30:59.250000000Z");
}

TEST(CsvTime, KeepsNanosecondsOfNamedFields) {
  const CsvTimeParser fields("%Y-%m-%d %H:%M:%S", "UTC");
  EXPECT_EQ(utc(fields, "2020-12-28 13:00:59.123456789"), "2020-12-28T13:00:59.123456789Z");
  EXPECT_EQ(utc(fields, "2020-12-28 13:00:59"), "2020-12-28T13:00:59Z");
}

TEST(CsvTime, Pitfall28MovesLocalTimesToUtcThroughBothChangesOfTheClock) {
  const CsvTimeParser chicago("iso", "America/Chicago");
  EXPECT_EQ(utc(chicago, "2013-03-10 01:59:59"), "2013-03-10T07:59:59Z");
  EXPECT_EQ(utc(chicago, "2013-03-10 03:00:00"), "2013-03-10T08:00:00Z");
  EXPECT_EQ(utc(chicago, "2013-11-03 00:59:59"), "2013-11-03T05:59:59Z");
  EXPECT_EQ(utc(chicago, "2013-11-03 02:00:00"), "2013-11-03T08:00:00Z");
  EXPECT_EQ(utc(chicago, "2013-07-01 12:00:00Z"), "2013-07-01T12:00:00Z")
      << "its own zone goes first";
}

TEST(CsvTime, RefusesLocalTimesThatAreSkippedOrComeTwice) {
  const CsvTimeParser chicago("iso", "America/Chicago");
  EXPECT_EQ(utc(chicago, "2013-03-10 02:30:00"),
            "does not exist in America/Chicago: the clocks go forward over it");
  EXPECT_EQ(utc(chicago, "2013-11-03 01:30:00"),
            "is ambiguous in America/Chicago: the clocks go back and it comes twice");
  const CsvTimeParser fields("%d/%m/%Y %H:%M", "America/New_York");
  EXPECT_EQ(utc(fields, "03/11/2013 01:30"),
            "is ambiguous in America/New_York: the clocks go back and it comes twice");
}

TEST(CsvTime, AnswersTheSameInAnyOrderOfQuestions) {
  // The parser remembers the last stretch of constant offset: that must never change an answer.
  const CsvTimeParser once("iso", "Europe/Berlin");
  Rng rng(5);
  for (int i = 0; i < 3000; ++i) {
    const UnixNanos local =
        parse_time("2012-01-01") + std::chrono::minutes{rng.below(std::uint64_t{3} * 366 * 1440)};
    std::string text = to_string(local);
    text.pop_back();  // Z
    ASSERT_EQ(utc(once, text), utc(CsvTimeParser("iso", "Europe/Berlin"), text)) << text;
  }
}

TEST(CsvTime, NamesUnknownFormatsAndZones) {
  EXPECT_EQ(error_of([] { CsvTimeParser("unix", "UTC"); }),
            "[csv] time format 'unix' is not known; write iso, unix_s, unix_ms, unix_us, unix_ns, "
            "or strptime fields "
            "such as %Y-%m-%d %H:%M:%S");
  EXPECT_THROW(CsvTimeParser("iso", "America/Springfield"), ConfigError);
}

}  // namespace
}  // namespace foxhunt::market
