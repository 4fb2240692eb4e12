#include "foxhunt/base/number_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace foxhunt {
namespace {

TEST(NumberText, PricesAreExactToTheLastUnit) {
  EXPECT_EQ(decimal_text(Price{4'321'250'000'000}), "4321.25");
  EXPECT_EQ(decimal_text(Price{1}), "0.000000001");
  EXPECT_EQ(decimal_text(Price{-37'630'000'000}), "-37.63");
  EXPECT_EQ(decimal_text(Price{-1}), "-0.000000001");
  EXPECT_EQ(decimal_text(Price{std::numeric_limits<std::int64_t>::min()}), "-9223372036.854775808");
  EXPECT_EQ(decimal_text(Price::null()), "");
}

TEST(NumberText, WholePricesKeepTheirPointWhereAsked) {
  EXPECT_EQ(decimal_text(Price{4'320'000'000'000}), "4320");
  EXPECT_EQ(decimal_text(Price{4'320'000'000'000}, true), "4320.0");
  EXPECT_EQ(decimal_text(Price{0}), "0");
  EXPECT_EQ(decimal_text(Price{0}, true), "0.0");
  EXPECT_EQ(decimal_text(Price{4'321'250'000'000}, true), "4321.25");
  EXPECT_EQ(decimal_text(Price::null(), true), "");
}

TEST(NumberText, GroupsOfThree) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(19083), "19,083");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(-123), "-123");
}

}  // namespace
}  // namespace foxhunt
