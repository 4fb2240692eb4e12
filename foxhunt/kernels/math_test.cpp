// exp, softplus and silu of every table against float64, in units of the last place.
#include <bit>
#include <cstdint>
#include <limits>

#include "foxhunt/kernels/table_test.h"

namespace foxhunt::kernels {
namespace {

using MathTest = TableTest;

/// Distance in units of the last place of the float nearest to `want`; counted from the smallest
/// normal number where `want` is below it.
double ulps(float got, double want) {
  const auto nearest = static_cast<float>(std::abs(want));
  const float place = std::max(nearest, std::numeric_limits<float>::min());
  const double ulp =
      static_cast<double>(std::nextafter(place, std::numeric_limits<float>::infinity())) - place;
  return std::abs(static_cast<double>(got) - want) / ulp;
}

/// Every `step`-th float of [low, high] and its neighbours in the grid of reals.
std::vector<float> grid(double low, double high) {
  std::vector<float> x;
  constexpr int kSteps = 400'000;
  for (int i = 0; i <= kSteps; ++i) {
    x.push_back(static_cast<float>(low + (high - low) * i / kSteps));
  }
  for (int i = 0; i < 1280; ++i) {  // small arguments of both signs
    const double tiny = 1e-38 * std::pow(1.07, i);
    x.push_back(static_cast<float>(tiny));
    x.push_back(static_cast<float>(-tiny));
  }
  return x;
}

template <class F>
double worst_ulps(const MapFn<float> map, const std::vector<float>& x, F&& exact) {
  std::vector<float> y(x.size());
  map(static_cast<std::int64_t>(x.size()), x.data(), y.data());
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, ulps(y[i], exact(static_cast<double>(x[i]))));
  }
  return worst;
}

// The bounds are those isa/math.inl.h states.
TEST_P(MathTest, ExpIsWithinTwoUlps) {
  const auto exact = [](double x) { return std::exp(x); };
  EXPECT_LE(worst_ulps(kernels().exp, grid(-87.0, 88.7), exact), 2.0);
}

TEST_P(MathTest, SoftplusIsWithinFourUlpsOverItsWholeRange) {
  const auto exact = [](double x) { return x > 20.0 ? x : std::log1p(std::exp(x)); };
  EXPECT_LE(worst_ulps(kernels().softplus, grid(-86.0, 90.0), exact), 4.0);
}

TEST_P(MathTest, SiluIsWithinFourUlps) {
  const auto exact = [](double x) { return x / (1.0 + std::exp(-x)); };
  EXPECT_LE(worst_ulps(kernels().silu, grid(-80.0, 90.0), exact), 4.0);
}

TEST_P(MathTest, TheEndsAreWhatTheyMustBe) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x{-inf, -4e4F, -105.0F, 89.5F, inf, nan, 0.0F};
  std::vector<float> y(x.size());
  const auto count = static_cast<std::int64_t>(x.size());
  kernels().exp(count, x.data(), y.data());
  EXPECT_EQ(y[0], 0.0F);
  EXPECT_EQ(y[1], 0.0F);
  EXPECT_LE(y[2], std::numeric_limits<float>::min());
  EXPECT_EQ(y[3], inf);
  EXPECT_EQ(y[4], inf);
  EXPECT_TRUE(std::isnan(y[5]));
  EXPECT_EQ(y[6], 1.0F);
  kernels().softplus(count, x.data(), y.data());
  EXPECT_EQ(y[1], 0.0F);
  EXPECT_EQ(y[3], 89.5F);
  EXPECT_TRUE(std::isnan(y[5]));
  kernels().silu(count, x.data(), y.data());
  EXPECT_LE(std::abs(y[1]), 1e-30F);
  EXPECT_EQ(y[3], 89.5F);
  EXPECT_TRUE(std::isnan(y[5]));
}

FX_FOR_EACH_TABLE(MathTest);

}  // namespace
}  // namespace foxhunt::kernels
