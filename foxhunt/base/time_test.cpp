#include "foxhunt/base/time.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"

namespace foxhunt {
namespace {

TEST(Time, ReadsWhatItWrites) {
  for (const std::int64_t nanos :
       {0LL, 1609160400000000000LL, 1609160400098821953LL, -1LL, 1381096800000000000LL}) {
    EXPECT_EQ(count(parse_time(to_string(from_nanos(nanos)))), nanos);
  }
}

TEST(Time, RefusesYearsThatNanosecondsCannotHold) {
  EXPECT_EQ(to_string(parse_time("1678-01-01")), "1678-01-01T00:00:00Z");
  EXPECT_EQ(to_string(parse_time("2261-12-31T23:59:59")), "2261-12-31T23:59:59Z");
  for (const char* text : {"9999-01-01", "2262-01-01", "1677-12-31", "0001-01-01"}) {
    EXPECT_THROW(parse_time(text), ConfigError) << text;
  }
}

TEST(Time, WritesTheFormThatPeopleKnow) {
  EXPECT_EQ(to_string(from_nanos(1609160400000000000)), "2020-12-28T13:00:00Z");
  EXPECT_EQ(to_string(from_nanos(1609160400098821953)), "2020-12-28T13:00:00.098821953Z");
  EXPECT_EQ(to_string(kNullTime), "null");
}

TEST(Time, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "2013", "2013-13-01", "2013-02-30", "2013-10-06T24:00", "2013-10-06T22:00:00.",
        "2013-10-06x", "2013-10-06T22:00:00.1234567890Z", "2013-10-06T22:60"}) {
    EXPECT_THROW(parse_time(text), ConfigError) << text;
  }
}

}  // namespace
}  // namespace foxhunt
