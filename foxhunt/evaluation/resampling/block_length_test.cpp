#include "foxhunt/evaluation/resampling/block_length.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt::evaluation {
namespace {

/// x[i] = phi x[i-1] + u, u uniform from a generator that any language writes in a line.
std::vector<double> autoregression(std::size_t n, double phi) {
  std::uint64_t state = 12345;
  std::vector<double> series;
  double x = 0;
  for (std::size_t i = 0; i < n; ++i) {
    state = (state * 1103515245 + 12345) % 2147483648;
    x = phi * x + static_cast<double>(state) / 2147483648.0 - 0.5;
    series.push_back(x);
  }
  return series;
}

TEST(AutomaticBlockLength, AgreesWithAnotherImplementation) {
  // arch 8.0.0 (Python), optimal_block_length(series)["circular"], on the same series.
  struct Case {
    std::size_t n;
    double phi;
    double want;
  };
  for (const Case& c : {Case{200, 0.3, 3.525724026032627}, Case{200, 0.9, 17.85089123499434},
                        Case{1000, 0.0, 2.1795913202849793}, Case{1000, 0.6, 13.716826025488256},
                        Case{1000, -0.5, 14.321906995112343}, Case{5000, 0.3, 13.198124523185982},
                        Case{5000, 0.9, 68.18276560322204}}) {
    EXPECT_EQ(automatic_block_length(autoregression(c.n, c.phi)),
              static_cast<std::size_t>(std::ceil(c.want)))
        << c.n << ' ' << c.phi;
  }
}

TEST(AutomaticBlockLength, OfAConstantOrOfAlmostNothingIsOne) {
  EXPECT_EQ(automatic_block_length({}), 1U);
  EXPECT_EQ(automatic_block_length(std::vector<double>{1, 2, 1}), 1U);
  EXPECT_EQ(automatic_block_length(std::vector<double>(100, 0.25)), 1U);
}

TEST(AutomaticBlockLength, NeverExceedsThreeRootsOfTheRows) {
  std::vector<double> trend(400);
  std::iota(trend.begin(), trend.end(), 0.0);
  EXPECT_LE(automatic_block_length(trend), 60U);
  EXPECT_GE(automatic_block_length(trend), 20U);
}

TEST(AutomaticBlockLength, RefusesWhatIsNotFinite) {
  std::vector<double> series(50, 1.0);
  series[7] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(automatic_block_length(series), DataError);
}

}  // namespace
}  // namespace foxhunt::evaluation
