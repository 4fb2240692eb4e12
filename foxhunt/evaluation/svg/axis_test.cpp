#include "foxhunt/evaluation/svg/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "foxhunt/base/rng.h"

namespace foxhunt::evaluation::svg {
namespace {

using testing::ElementsAre;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(NiceTicks, AreRoundEvenlySpacedInsideAndNotTooMany) {
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    const double lo = rng.uniform(-1, 1) * std::pow(10.0, rng.uniform(-4, 5));
    const double hi = lo + std::pow(10.0, rng.uniform(-4, 5));
    const int most = 3 + static_cast<int>(rng.below(8));
    const Ticks ticks = nice_ticks(lo, hi, most);
    const double mantissa = ticks.step / std::pow(10.0, std::floor(std::log10(ticks.step) + 1e-9));
    EXPECT_TRUE(std::abs(mantissa - 1) < 1e-9 || std::abs(mantissa - 2) < 1e-9 ||
                std::abs(mantissa - 5) < 1e-9)
        << ticks.step;
    ASSERT_GE(ticks.at.size(), 1U) << lo << ' ' << hi << ' ' << most;
    EXPECT_LE(ticks.at.size(), static_cast<std::size_t>(most));
    const double slack = 1e-6 * ticks.step;
    EXPECT_GE(ticks.at.front(), lo - slack);
    EXPECT_LE(ticks.at.back(), hi + slack);
    EXPECT_GT(ticks.at.front() - ticks.step, lo - ticks.step - slack);
    // No room for one more at either end.
    EXPECT_LT(ticks.at.front() - ticks.step, lo + slack);
    EXPECT_GT(ticks.at.back() + ticks.step, hi - slack);
  }
}

TEST(NiceTicks, OfWholeNumbersAreWhole) {
  EXPECT_THAT(nice_ticks(0.9, 3.1, 12, /*whole=*/true).at, ElementsAre(1, 2, 3));
  EXPECT_THAT(nice_ticks(1, 20, 6, /*whole=*/true).at, ElementsAre(5, 10, 15, 20));
}

TEST(NiceTicks, OfNoRangeAreNone) {
  EXPECT_TRUE(nice_ticks(1, 1, 5).at.empty());
  EXPECT_TRUE(nice_ticks(2, 1, 5).at.empty());
  EXPECT_TRUE(nice_ticks(kNaN, 1, 5).at.empty());
  EXPECT_TRUE(nice_ticks(0, INFINITY, 5).at.empty());
}

TEST(TickLabels, HaveTheDecimalsOfTheirStep) {
  const Ticks hundredths = nice_ticks(0.98, 1.03, 6);
  EXPECT_EQ(hundredths.label(1.0), "1.00");
  const Ticks fives = nice_ticks(-0.01, 0.011, 5);
  EXPECT_EQ(fives.step, 0.005);
  EXPECT_EQ(fives.label(-0.005), "-0.005");
  EXPECT_EQ(fives.label(0), "0.000");
  EXPECT_EQ(nice_ticks(0, 5000, 6).label(2000), "2,000");
  EXPECT_EQ(nice_ticks(0, 5000, 6).label(-2000), "-2,000");
  EXPECT_EQ((Ticks{1e6, {}}).label(3e6), "3e+06");
}

TEST(RangeOf, LeavesOutWhatIsNotFiniteAndNeverCollapses) {
  EXPECT_EQ(range_of({1, kNaN, 3, INFINITY}, 0.1).lo, 0.8);
  EXPECT_EQ(range_of({1, kNaN, 3, INFINITY}, 0.1).hi, 3.2);
  EXPECT_LT(range_of({2, 2}, 0.1).lo, 2);
  EXPECT_GT(range_of({2, 2}, 0.1).hi, 2);
  EXPECT_LT(range_of({0}, 0).lo, range_of({0}, 0).hi);
  EXPECT_LT(range_of({-5}, 0).lo, range_of({-5}, 0).hi);
  EXPECT_EQ(range_of({kNaN}, 0.1).hi, 1);
}

TEST(PlotArea, MapsItsEndsToItsEdges) {
  const PlotArea area{
      .left = 10, .top = 20, .right = 110, .bottom = 220, .x = {1, 3}, .y = {-1, 1}};
  EXPECT_EQ(area.x_at(1), 10);
  EXPECT_EQ(area.x_at(3), 110);
  EXPECT_EQ(area.y_at(-1), 220);
  EXPECT_EQ(area.y_at(1), 20);
  EXPECT_EQ(area.y_at(0), 120);
}

}  // namespace
}  // namespace foxhunt::evaluation::svg
