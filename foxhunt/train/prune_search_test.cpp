// Which state the search takes, whatever the shape of the loss.
#include "foxhunt/train/prune_search.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foxhunt::train {
namespace {

PruneSearch search(const std::vector<double>& losses, double limit) {
  return smallest_state(static_cast<std::int64_t>(losses.size()) + 1, limit,
                        [&](std::int64_t n) { return losses.at(static_cast<std::size_t>(n) - 1); });
}

TEST(PruneSearch, TakesTheSmallestThatFitsAlsoWhereTheLossRisesAgain) {
  const PruneSearch found = search({5, 2, 1.1, 3, 1.0}, 1.1);
  EXPECT_EQ(found.d_state, 3);
  EXPECT_EQ(found.trials.size(), 3U) << "and looks no further";
  EXPECT_EQ(found.trials[1].d_state, 2);
  EXPECT_EQ(found.trials[1].loss, 2);
}

TEST(PruneSearch, TheLimitItselfFits) { EXPECT_EQ(search({3, 2, 1}, 2).d_state, 2); }

TEST(PruneSearch, FindsNothingWhereNothingFitsAndSaysWhatCameNearest) {
  const PruneSearch none = search({5, 1.5, NAN, 4}, 1);
  EXPECT_FALSE(none.d_state);
  EXPECT_EQ(none.trials.size(), 4U);
  EXPECT_EQ(none.best()->d_state, 2);
  const PruneSearch nothing = search({}, 1);
  EXPECT_FALSE(nothing.d_state);
  EXPECT_EQ(nothing.best(), nullptr);
}

TEST(PruneSearch, NoLossThatIsNotFiniteFits) {
  EXPECT_EQ(search({NAN, -INFINITY, 0.5}, 1).d_state, 3);
  EXPECT_EQ(search({NAN, NAN}, INFINITY).best(), nullptr);
}

}  // namespace
}  // namespace foxhunt::train
