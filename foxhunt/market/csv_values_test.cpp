#include "foxhunt/market/csv_values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "foxhunt/base/rng.h"

namespace foxhunt::market {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::int64_t decimal(std::string_view text) {
  Price price{-1};
  EXPECT_EQ(parse_decimal_price(text, price), "") << text;
  return price.nano;
}

TEST(DecimalPrice, IsExactInUnitsOf1e9) {
  EXPECT_EQ(decimal("4321.25"), 4'321'250'000'000);
  EXPECT_EQ(decimal("0.00005"), 50'000);
  EXPECT_EQ(decimal("0.015625"), 15'625'000);
  EXPECT_EQ(decimal("-37.63"), -37'630'000'000);
  EXPECT_EQ(decimal("58"), 58'000'000'000);
  EXPECT_EQ(decimal("0"), 0);
  EXPECT_EQ(decimal("-0.000000001"), -1);
  EXPECT_EQ(decimal("1.100000000000"), 1'100'000'000) << "zeros behind the ninth decimal";
  EXPECT_EQ(decimal("007.5"), 7'500'000'000);
  // 0.1 + 0.2 and the like: a double would be off by one unit here.
  EXPECT_EQ(decimal("9007199.254740993"), 9'007'199'254'740'993);
  EXPECT_EQ(decimal("9223372036.854775806"), kMax - 1);
  EXPECT_EQ(decimal("-9223372036.854775806"), -(kMax - 1));
  EXPECT_TRUE(Price{decimal("")}.is_null());
}

TEST(DecimalPrice, ReadsBackEveryPriceThatIsWrittenInDigits) {
  Rng rng(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto nano = static_cast<std::int64_t>(rng.next() >> (1 + rng.below(60)));
    const std::string text = fmt::format("{}.{:09}", nano / 1'000'000'000, nano % 1'000'000'000);
    if (nano == kMax) continue;
    ASSERT_EQ(decimal(text), nano) << text;
    ASSERT_EQ(decimal("-" + text), -nano) << text;
  }
}

TEST(DecimalPrice, RefusesWhatIsNoDecimalNumber) {
  Price price;
  for (const char* text :
       {"-", ".", "1.", ".5", "1.2.3", "1e5", "+1", " 1", "1 ", "0x1", "nan", "1,5", "--1", "1-"}) {
    EXPECT_EQ(parse_decimal_price(text, price), "is no decimal number such as 4321.25") << text;
  }
  EXPECT_EQ(parse_decimal_price("4515.664000000001", price),
            "has more than 9 decimals; prices are exact to 1e-9");
  // One above the largest price is the null price; a parser that wraps would call it one.
  for (const char* text :
       {"9223372036.854775807", "9223372036.854775808", "99999999999", "184467440737.09551616"}) {
    EXPECT_EQ(parse_decimal_price(text, price),
              "lies outside ±9223372036.854775806, the range of a price in 1e-9 units")
        << text;
  }
}

TEST(NanoPrice, TakesWholeUnitsAndTheUndefinedValue) {
  Price price;
  EXPECT_EQ(parse_nano_price("3720250000000", price), "");
  EXPECT_EQ(price.nano, 3'720'250'000'000);
  EXPECT_EQ(parse_nano_price("-5", price), "");
  EXPECT_EQ(price.nano, -5);
  EXPECT_EQ(parse_nano_price("9223372036854775807", price), "");
  EXPECT_TRUE(price.is_null());
  EXPECT_EQ(parse_nano_price("9223372036854775808", price),
            "lies outside -9223372036854775808 to 9223372036854775807");
  EXPECT_EQ(parse_nano_price("1.5", price), "is no whole number");
}

TEST(Counts, AreWholeNumbersInTheirRange) {
  std::uint64_t value = 0;
  EXPECT_EQ(parse_unsigned("57", 100, value), "");
  EXPECT_EQ(value, 57U);
  EXPECT_EQ(parse_unsigned("12.000", 100, value), "");
  EXPECT_EQ(value, 12U);
  EXPECT_EQ(parse_unsigned("18446744073709551615", ~std::uint64_t{0}, value), "");
  EXPECT_EQ(value, ~std::uint64_t{0});
  EXPECT_EQ(parse_unsigned("101", 100, value), "lies outside 0 to 100");
  EXPECT_EQ(parse_unsigned("18446744073709551616", 100, value), "lies outside 0 to 100");
  for (const char* text : {"", "-1", "1.5", "1e3", " 1", ".0", "x"}) {
    EXPECT_EQ(parse_unsigned(text, 100, value), "is no whole number") << text;
  }
}

TEST(SignedNumbers, AreWholeAndInTheirRange) {
  std::int64_t value = 0;
  EXPECT_EQ(parse_signed("-7", -10, 10, value), "");
  EXPECT_EQ(value, -7);
  EXPECT_EQ(parse_signed("11", -10, 10, value), "lies outside -10 to 10");
  EXPECT_EQ(parse_signed("99999999999999999999", -10, 10, value), "lies outside -10 to 10");
  for (const char* text : {"", "-", "+1", "1.0", "1x"}) {
    EXPECT_EQ(parse_signed(text, -10, 10, value), "is no whole number") << text;
  }
}

}  // namespace
}  // namespace foxhunt::market
