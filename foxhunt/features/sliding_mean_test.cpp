#include "foxhunt/features/sliding_mean.h"

#include <gtest/gtest.h>

#include <numeric>

#include "foxhunt/base/rng.h"
#include "foxhunt/features/volatility.h"

namespace foxhunt::features {
namespace {

TEST(SlidingMean, IsTheMeanOfTheLastValues) {
  SlidingMean mean(3);
  mean.push(1);
  mean.push(2);
  EXPECT_FALSE(mean.full());
  mean.push(6);
  ASSERT_TRUE(mean.full());
  EXPECT_EQ(mean.mean(), 3.0);
  mean.push(0.5);
  EXPECT_EQ(mean.mean(), (2 + 6 + 0.5) / 3);
  mean.clear();
  EXPECT_FALSE(mean.full());
}

TEST(SlidingMean, ForgetsWhatLeftItToTheLastBit) {
  // Values of very different size: a running sum of doubles would keep rounding errors of the large
  // ones.
  Rng rng(1);
  SlidingMean with_past(20);
  for (int i = 0; i < 5000; ++i) with_past.push(2000.0 * rng.uniform());
  SlidingMean without_past(20);
  for (int i = 0; i < 20; ++i) {
    const double value = 1e-8 * rng.uniform();
    with_past.push(value);
    without_past.push(value);
  }
  EXPECT_EQ(with_past.mean(), without_past.mean());
}

TEST(SlidingMean, HoldsTheLargestSumItPromises) {
  SlidingMean mean(1 << 20);
  for (int i = 0; i < (1 << 20); ++i) mean.push(2047.0);
  EXPECT_EQ(mean.mean(), 2047.0);
}

TEST(SlidingMean, ExactValuesPushedAgainGiveTheSameBitsAtEveryFill) {
  Rng rng(2);
  for (const std::int64_t span : {1, 2, 7}) {
    SlidingMean mean(span);
    for (int i = 0; i < 20; ++i) {
      SlidingMean again(span);
      for (std::size_t ago = mean.size(); ago-- > 0;) again.push_exact(mean.exact(ago));
      ASSERT_EQ(again.size(), mean.size());
      SlidingMean straight = mean;
      for (int k = 0; k < 2 * span; ++k) {
        const double value = std::ldexp(rng.uniform(), static_cast<int>(rng.below(60)) - 49);
        straight.push(value);
        again.push(value);
        ASSERT_EQ(again.full(), straight.full());
        if (straight.full()) {
          ASSERT_EQ(again.mean(), straight.mean());
        }
      }
      mean.push(2048.0 * rng.uniform());
    }
  }
}

TEST(SlidingMean, AnExactValueIsValidUpToTheLargestThatPushTakes) {
  SlidingMean mean(2);
  mean.push(2048.0);
  mean.push(std::ldexp(3.0, -96));
  EXPECT_EQ(mean.exact(0).low, 3U);
  EXPECT_EQ(mean.exact(0).high, 0U);
  SlidingMean::Exact largest = mean.exact(1);
  EXPECT_TRUE(largest.is_valid());
  ++largest.low;
  EXPECT_FALSE(largest.is_valid());
  EXPECT_TRUE((SlidingMean::Exact{.high = largest.high - 1, .low = ~std::uint64_t{0}}.is_valid()));
  EXPECT_FALSE((SlidingMean::Exact{.high = largest.high + 1, .low = 0}.is_valid()));
}

TEST(RealisedVolatility, IsTheRootMeanSquareAndNeverBelowOneTickInTheWindow) {
  const Price tick{250'000'000};
  const Price close{1'700'000'000'000};
  RealisedVolatility volatility(4, tick);
  for (const double r : {1e-4, -2e-4, 3e-4, 0.0}) volatility.push(r);
  ASSERT_TRUE(volatility.ready());
  // 1e-12 relative: the squares are cut at 2^-96 = 1.3e-29, against 1e-8; the rest is rounding of
  // the root.
  EXPECT_NEAR(volatility.value(close), std::sqrt((1e-8 + 4e-8 + 9e-8) / 4), 1e-12 * 1e-4);
  for (int i = 0; i < 4; ++i) volatility.push(0.0);
  EXPECT_DOUBLE_EQ(volatility.value(close), 0.25 / 1700.0 / 2.0);
}

TEST(LogReturn, KeepsTheDigitsOfASmallMove) {
  const Price from{1'000'000'000'000'000};
  const Price to{from.nano + 1};
  EXPECT_DOUBLE_EQ(log_return(from, to), 1e-15);  // log(to / from) in doubles gives 1.1e-15
  EXPECT_EQ(log_return(from, from), 0.0);
  const Price highest{Price::kNullNano - 1};
  EXPECT_DOUBLE_EQ(log_return(highest, Price{1}), -log_return(Price{1}, highest));
  EXPECT_DOUBLE_EQ(log_return(Price{8}, Price{2}), -std::log(4.0));
}

}  // namespace
}  // namespace foxhunt::features
