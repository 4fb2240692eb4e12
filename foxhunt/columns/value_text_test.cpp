#include "foxhunt/columns/value_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "foxhunt/columns/digits.h"

namespace foxhunt::columns {
namespace {

TEST(ValueText, PricesAreExactToTheLastUnit) {
  std::uint64_t bits = 0;
  const auto price = [&](const char* text) {
    EXPECT_EQ(parse_price(text, bits), "") << text;
    return static_cast<std::int64_t>(bits);
  };
  EXPECT_EQ(price("3720.250000000"), 3'720'250'000'000);
  EXPECT_EQ(price("-0.000000001"), -1);
  EXPECT_EQ(price("0.5"), 500'000'000);
  EXPECT_EQ(price("-9223372036.854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(price("9223372036.854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text :
       {"", "-", ".", "1.", ".5", "1.0000000001", "1e3", "--1", "+1", " 1", "9223372036.854775808",
        "-9223372036.854775809", "99999999999999999999"}) {
    EXPECT_NE(parse_price(text, bits), "") << text;
  }
}

TEST(ValueText, TimesAreExactToTheNanosecond) {
  std::uint64_t bits = 0;
  const auto time = [&](const char* text) {
    EXPECT_EQ(parse_iso(text, bits), "") << text;
    return bits;
  };
  EXPECT_EQ(time("2020-12-28T13:00:00.006136329Z"), 1'609'160'400'006'136'329U);
  EXPECT_EQ(time("1970-01-01T00:00:00Z"), 0U);
  EXPECT_EQ(time("1970-01-01T00:00:00.5Z"), 500'000'000U);
  EXPECT_EQ(time("2024-02-29T23:59:59.999999999Z"), 1'709'251'199'999'999'999U);
  EXPECT_EQ(time("2554-07-21T23:34:33.709551615Z"), ~std::uint64_t{0});
  for (const char* text :
       {"", "2020-12-28", "2020-12-28T13:00:00", "2020-12-28 13:00:00Z", "2023-02-29T00:00:00Z",
        "2020-12-28T24:00:00Z", "2020-12-28T13:60:00Z", "2020-12-28T13:00:60Z",
        "2020-12-28T13:00:00.Z", "2020-12-28T13:00:00.0000000001Z", "1969-12-31T23:59:59Z",
        "2554-07-21T23:34:33.709551616Z", "2554-07-21T23:34:34Z", "9999-12-31T00:00:00Z"}) {
    EXPECT_NE(parse_iso(text, bits), "") << text;
  }
}

TEST(ValueText, WhatIsWrittenIsReadBack) {
  std::uint64_t n = 88172645463325252U;
  TimeText times;
  for (unsigned i = 0; i < 20'000; ++i) {
    n ^= n << 13U;
    n ^= n >> 7U;
    n ^= n << 17U;
    const std::uint64_t value = n >> (i % 64);
    char room[40];
    std::uint64_t bits = 0;
    ASSERT_EQ(parse_iso({room, times.write_iso(room, value)}, bits), "");
    ASSERT_EQ(bits, value);
    ASSERT_EQ(parse_price({room, write_price(room, static_cast<std::int64_t>(value))}, bits), "");
    ASSERT_EQ(bits, value);
    ASSERT_EQ(parse_whole({room, write_unsigned(room, value)}, ~std::uint64_t{0}, bits), "");
    ASSERT_EQ(bits, value);
  }
}

TEST(ValueText, IntegersAreHeldToTheirField) {
  std::uint64_t bits = 0;
  EXPECT_EQ(parse_whole("255", 255, bits), "");
  EXPECT_EQ(parse_whole("256", 255, bits), "lies outside 0 to 255");
  EXPECT_EQ(parse_whole("18446744073709551616", ~std::uint64_t{0}, bits),
            "lies outside 0 to 18446744073709551615");
  EXPECT_EQ(parse_whole("1.0", 255, bits), "is no whole number");
  EXPECT_EQ(parse_whole("", 255, bits), "is no whole number");
  EXPECT_EQ(parse_whole("-1", 255, bits), "is no whole number");
  EXPECT_EQ(parse_whole_signed("-128", 8, bits), "");
  EXPECT_EQ(static_cast<std::int8_t>(bits), -128);
  EXPECT_EQ(parse_whole_signed("128", 8, bits), "lies outside -128 to 127");
  EXPECT_EQ(parse_whole_signed("-9223372036854775808", 64, bits), "");
  EXPECT_EQ(parse_whole_signed("9223372036854775808", 64, bits),
            "lies outside -9223372036854775808 to 9223372036854775807");
}

}  // namespace
}  // namespace foxhunt::columns
