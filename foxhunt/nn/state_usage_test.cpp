// Which columns are called the most important.
#include "foxhunt/nn/state_usage.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"

namespace foxhunt::nn {
namespace {

StateUsage usage_of(std::vector<std::vector<ColumnUsage>> groups) {
  return {.rows = 1, .layers = {{.heads = {}, .columns = std::move(groups)}}};
}

TEST(MostImportant, KeepsTheLargestOfEachGroupInTheirOrder) {
  const StateUsage usage =
      usage_of({{{0.1, 0}, {0.5, 0}, {0.2, 0}, {0.4, 0}}, {{9, 0}, {0, 0}, {0, 0}, {8, 0}}});
  EXPECT_EQ(most_important(usage, 2), (ColumnChoice{{{1, 3}, {0, 3}}}));
  EXPECT_EQ(most_important(usage, 1), (ColumnChoice{{{1}, {0}}}));
  EXPECT_EQ(most_important(usage, 4), (ColumnChoice{{{0, 1, 2, 3}, {0, 1, 2, 3}}}));
}

TEST(MostImportant, EqualOnesGoByContributionThenByNumber) {
  EXPECT_EQ(most_important(usage_of({{{1, 0.1}, {1, 0.3}, {1, 0.2}}}), 2),
            (ColumnChoice{{{1, 2}}}));
  EXPECT_EQ(most_important(usage_of({{{0, 0}, {0, 0}, {0, 0}}}), 2), (ColumnChoice{{{0, 1}}}));
}

TEST(MostImportant, RefusesMoreColumnsThanThereAreAndNone) {
  const StateUsage usage = usage_of({{{1, 0}, {1, 0}}});
  EXPECT_THROW(most_important(usage, 3), ShapeError);
  EXPECT_THROW(most_important(usage, 0), ShapeError);
}

}  // namespace
}  // namespace foxhunt::nn
