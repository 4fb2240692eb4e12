#include "foxhunt/experiments/halving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "foxhunt/base/rng.h"

namespace foxhunt::experiments {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Halving, RungsGrowByEtaAndEndWithTheLongest) {
  EXPECT_THAT(rungs(2, 3, 30), ElementsAre(2, 6, 18, 30));
  EXPECT_THAT(rungs(2, 3, 18), ElementsAre(2, 6, 18));
  EXPECT_THAT(rungs(5, 2, 5), ElementsAre(5));
  EXPECT_THAT(rungs(9, 2, 5), ElementsAre(5));
  EXPECT_THAT(rungs(1, 1000, 1'000'000), ElementsAre(1, 1000, 1'000'000));
  const auto max = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(rungs(1, 2, max).back(), max) << "no overflow on the way";
}

TEST(Halving, TheBestOneInEtaGoesOn) {
  EXPECT_THAT(survivors({0, 1, 2, 3, 4, 5}, {6.0, 1.0, 5.0, 2.0, 4.0, 3.0}, 3), ElementsAre(1, 3));
  EXPECT_THAT(survivors({7, 8, 9}, {3.0, 2.0, 1.0}, 5), ElementsAre(9)) << "one always goes on";
  EXPECT_THAT(survivors({3, 1, 2}, {1.0, 1.0, 1.0}, 3), ElementsAre(1)) << "the earlier of equals";
}

TEST(Halving, AFailedTrialNeverGoesOn) {
  EXPECT_THAT(survivors({0, 1, 2, 3}, {std::nullopt, 9.0, std::nullopt, std::nullopt}, 2),
              ElementsAre(1))
      << "its place stays empty";
  EXPECT_THAT(survivors({0, 1}, {std::nullopt, std::nullopt}, 2), IsEmpty());
}

// Against the definition: a survivor has fewer than `keep` better ones.
TEST(Halving, SurvivorsAreThoseWithFewerBetterOnesByBruteForce) {
  Rng rng(1);
  for (int round = 0; round < 500; ++round) {
    const std::size_t n = 1 + rng.below(20);
    const auto eta = static_cast<std::int64_t>(2 + rng.below(4));
    std::vector<std::size_t> entered;
    std::vector<std::optional<double>> losses;
    for (std::size_t i = 0; i < n; ++i) {
      entered.push_back(i * 3);
      losses.push_back(rng.below(6) == 0 ? std::nullopt
                                         : std::optional(static_cast<double>(rng.below(8))));
    }
    const std::size_t keep = std::max<std::size_t>(1, n / static_cast<std::size_t>(eta));
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < n; ++i) {
      if (!losses[i]) continue;
      std::size_t better = 0;
      for (std::size_t j = 0; j < n; ++j) {
        if (losses[j] && (*losses[j] < *losses[i] || (*losses[j] == *losses[i] && j < i))) ++better;
      }
      if (better < keep) expected.push_back(entered[i]);
    }
    EXPECT_EQ(survivors(entered, losses, eta), expected);
  }
}

}  // namespace
}  // namespace foxhunt::experiments
