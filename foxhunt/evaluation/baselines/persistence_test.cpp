#include "foxhunt/evaluation/baselines/persistence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/evaluation/baselines/prior.h"

namespace foxhunt::evaluation {
namespace {

using testing::ElementsAre;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(PersistenceTable, CountsWhatFollowedWhat) {
  // After 0 came 0, 0, 1; after 1 came 1; the first row has no last class.
  const std::vector<int> last{kNoLastClass, 0, 0, 0, 1};
  const std::vector<int> labels{1, 0, 0, 1, 1};
  const PersistenceTable table(last, labels, 2);
  const double prior0 = 3.0 / 7;  // Laplace: (2 + 1) / (5 + 2)
  EXPECT_DOUBLE_EQ(table.row(0)[0], (2 + 2 * prior0) / (3 + 2));
  EXPECT_DOUBLE_EQ(table.row(1)[0], (0 + 2 * prior0) / (1 + 2));
  EXPECT_DOUBLE_EQ(table.row(kNoLastClass)[0], prior0);
  for (const int l : {0, 1, kNoLastClass})
    EXPECT_DOUBLE_EQ(table.row(l)[0] + table.row(l)[1], 1) << l;
}

TEST(PersistenceTable, FallsBackToThePriorWhereItSawNothing) {
  const std::vector<int> last{0, 0};
  const std::vector<int> labels{0, 1};
  const PersistenceTable table(last, labels, 3);
  const std::vector<double> prior = class_prior(labels, 3);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_DOUBLE_EQ(table.row(2)[k], prior[k]);
}

TEST(PersistenceTable, RecoversTheChainThatMadeTheMoves) {
  const double stay = 0.7;
  Rng rng(1);
  std::vector<int> last;
  std::vector<int> labels;
  int state = 0;
  for (int i = 0; i < 20'000; ++i) {
    last.push_back(state);
    if (rng.uniform() >= stay) state = 1 - state;
    labels.push_back(state);
  }
  const PersistenceTable table(last, labels, 2);
  // Four standard errors of a share of 10,000 rows: 4 sqrt(0.21 / 10,000) = 0.018.
  EXPECT_NEAR(table.row(0)[0], stay, 0.018);
  EXPECT_NEAR(table.row(1)[1], stay, 0.018);
  EXPECT_THAT(table.predict(std::vector{1, 0}),
              ElementsAre(table.row(1)[0], table.row(1)[1], table.row(0)[0], table.row(0)[1]));
}

TEST(PersistenceTable, RefusesClassesThatAreNone) {
  EXPECT_THROW(PersistenceTable(std::vector{0, 2}, std::vector{0, 1}, 2), DataError);
  EXPECT_THROW(PersistenceTable(std::vector{0}, std::vector{0, 1}, 2), ShapeError);
  const PersistenceTable table(std::vector{0}, std::vector{0}, 2);
  EXPECT_THROW(table.row(2), DataError);
  EXPECT_THROW(table.row(-2), DataError);
}

TEST(PersistenceLine, IsTheLeastSquaresLineOfTheKnownRows) {
  const std::vector<double> last{0, 1, kNaN, 2};
  const std::vector<double> outcomes{1, 3, 100, 5};
  const PersistenceLine line = PersistenceLine::fit(last, outcomes);
  EXPECT_DOUBLE_EQ(line.slope, 2);
  EXPECT_DOUBLE_EQ(line.intercept, 1);
  EXPECT_THAT(line.predict(std::vector{10.0, kNaN}), ElementsAre(21, 1));
}

TEST(PersistenceLine, IsTheMeanWhereTheLastMoveSaysNothing) {
  const std::vector<double> outcomes{1, 3};
  EXPECT_EQ(PersistenceLine::fit(std::vector{kNaN, kNaN}, outcomes).intercept, 2);
  EXPECT_EQ(PersistenceLine::fit(std::vector{5.0, 5.0}, outcomes).slope, 0);
  EXPECT_THROW(PersistenceLine::fit(std::vector{INFINITY, 1.0}, outcomes), DataError);
  EXPECT_THROW(PersistenceLine::fit({}, outcomes), ShapeError);
  EXPECT_THROW(PersistenceLine::fit({}, {}), DataError);
}

}  // namespace
}  // namespace foxhunt::evaluation
