#include "foxhunt/base/rng.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace foxhunt {
namespace {

TEST(Rng, SplitsDoNotDependOnEarlierDraws) {
  Rng a(7);
  const std::uint64_t before = a.split("shuffle").next();
  for (int i = 0; i < 100; ++i) a.next();
  EXPECT_EQ(a.split("shuffle").next(), before);
  EXPECT_NE(a.split("dropout").next(), before);
  EXPECT_NE(Rng(8).split("shuffle").next(), before);
}

TEST(Rng, HasTheMomentsOfItsDistributions) {
  Rng rng(1);
  const int n = 200'000;
  double sum = 0;
  double squares = 0;
  double mean = 0;
  for (int i = 0; i < n; ++i) {
    const double z = rng.normal();
    sum += z;
    squares += z * z;
    mean += rng.uniform();
  }
  // Five standard errors of each mean.
  EXPECT_NEAR(sum / n, 0.0, 5.0 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1.0, 5.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(mean / n, 0.5, 5.0 * std::sqrt(1.0 / 12 / n));
}

TEST(Rng, ShufflesEveryPermutationOfThreeAlike) {
  Rng rng(3);
  std::vector<int> seen(27, 0);
  for (int i = 0; i < 60'000; ++i) {
    std::vector<std::size_t> v{0, 1, 2};
    rng.shuffle(v);
    ++seen[v[0] * 9 + v[1] * 3 + v[2]];
  }
  for (const int index : {5, 7, 11, 15, 19, 21})
    EXPECT_NEAR(seen[static_cast<std::size_t>(index)], 10'000, 500);
}

}  // namespace
}  // namespace foxhunt
