// Rank metrics against the definitions written out pair by pair.
#include "foxhunt/evaluation/metrics/ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::evaluation {
namespace {

/// `n` whole numbers below `distinct`: many ties when that is small.
std::vector<double> draw(Rng& rng, std::size_t n, std::uint64_t distinct) {
  std::vector<double> v(n);
  for (double& x : v) x = static_cast<double>(rng.below(distinct));
  return v;
}

double rank_by_counting(const std::vector<double>& v, std::size_t i) {
  double below = 0;
  double equal = 0;
  for (const double x : v) {
    below += x < v[i] ? 1 : 0;
    equal += x == v[i] ? 1 : 0;
  }
  return below + (equal + 1) / 2;
}

double tau_by_pairs(const std::vector<double>& x, const std::vector<double>& y) {
  const auto sign = [](double d) { return d > 0 ? 1.0 : d < 0 ? -1.0 : 0.0; };
  double score = 0;
  double untied_x = 0;
  double untied_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      score += sign(x[i] - x[j]) * sign(y[i] - y[j]);
      untied_x += x[i] != x[j] ? 1 : 0;
      untied_y += y[i] != y[j] ? 1 : 0;
    }
  }
  return score / std::sqrt(untied_x * untied_y);
}

TEST(Ordering, RanksAreWhatCountingGives) {
  Rng rng(1);
  const std::vector<double> v = draw(rng, 40, 9);
  std::vector<double> ranks(v.size());
  Ordering(v).average_ranks({}, ranks);
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(ranks[i], rank_by_counting(v, i));
}

TEST(Ordering, RefusesWhatHasNoOrder) {
  const std::vector<double> v{1, std::numeric_limits<double>::quiet_NaN()};
  try {
    Ordering ordering(v);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "[evaluation] row 1: nan cannot be ranked");
  }
}

TEST(Spearman, SeesOnlyTheOrder) {
  const std::vector<double> x{1, 2, 3, 4};
  const std::vector<double> bent{-9, 0.1, 0.2, 1e6};
  const std::vector<double> back{4, 3, 2, -100};
  EXPECT_DOUBLE_EQ(*spearman(Ordering(x), Ordering(bent)), 1);
  EXPECT_DOUBLE_EQ(*spearman(Ordering(x), Ordering(back)), -1);
}

TEST(Spearman, IsUndefinedWhereNothingVaries) {
  const std::vector<double> x{1, 2, 3};
  const std::vector<double> flat{5, 5, 5};
  EXPECT_STREQ(spearman(Ordering(flat), Ordering(x)).reason(), "the forecast does not vary");
  EXPECT_STREQ(spearman(Ordering(x), Ordering(flat)).reason(), "the outcome does not vary");
  const std::vector<double> one{1};
  EXPECT_FALSE(spearman(Ordering(one), Ordering(one)).defined());
  EXPECT_FALSE(spearman(Ordering({}), Ordering({})).defined());
  EXPECT_THROW(spearman(Ordering(one), Ordering(x)), ShapeError);
}

TEST(KendallTauB, EqualsTheSumOverAllPairsWhateverTheTies) {
  Rng rng(2);
  for (const std::uint64_t distinct : {2U, 3U, 10U, 1000U}) {
    for (const std::size_t n : {2U, 5U, 17U, 64U, 100U}) {
      const std::vector<double> x = draw(rng, n, distinct);
      const std::vector<double> y = draw(rng, n, distinct);
      const double want = tau_by_pairs(x, y);
      const Value got = kendall_tau_b(x, y);
      EXPECT_EQ(got.defined(), std::isfinite(want));
      // One division and one root of exact counts.
      EXPECT_NEAR(got.or_else(0), got ? want : 0, 1e-14) << distinct << ' ' << n;
    }
  }
}

TEST(KendallTauB, IsUndefinedWhereNothingVaries) {
  const std::vector<double> x{1, 2, 3};
  const std::vector<double> flat{5, 5, 5};
  EXPECT_FALSE(kendall_tau_b(flat, x).defined());
  EXPECT_FALSE(kendall_tau_b(x, flat).defined());
  EXPECT_FALSE(kendall_tau_b({}, {}).defined());
  EXPECT_THROW(kendall_tau_b(x, std::vector<double>{1}), ShapeError);
}

TEST(Auc, IsTheShareOfPairsInTheRightOrderTiesOneHalf) {
  Rng rng(3);
  const std::vector<double> score = draw(rng, 60, 12);
  std::vector<std::uint8_t> positive;
  for (std::size_t i = 0; i < score.size(); ++i) positive.push_back(rng.uniform() < 0.4 ? 1 : 0);
  double won = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < score.size(); ++i) {
    for (std::size_t j = 0; j < score.size(); ++j) {
      if (positive[i] == 0 || positive[j] != 0) continue;
      won += score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0;
      ++pairs;
    }
  }
  EXPECT_DOUBLE_EQ(*auc(Ordering(score), positive), won / pairs);
}

TEST(Auc, OfAConstantScoreIsOneHalfAndOfOneClassUndefined) {
  const std::vector<double> flat{3, 3, 3};
  EXPECT_EQ(*auc(Ordering(flat), std::vector<std::uint8_t>{1, 0, 0}), 0.5);
  EXPECT_STREQ(auc(Ordering(flat), std::vector<std::uint8_t>{1, 1, 1}).reason(),
               "only one class occurred");
  EXPECT_FALSE(auc(Ordering({}), {}).defined());
}

TEST(AveragePrecision, OfAWorkedExample) {
  // From the top: the first is right (precision 1 at recall 1/3), the tied pair brings 3 of 4 at
  // recall 1.
  const std::vector<double> score{0.9, 0.8, 0.5, 0.5, 0.1};
  const std::vector<std::uint8_t> positive{1, 0, 1, 1, 0};
  EXPECT_DOUBLE_EQ(*average_precision(Ordering(score), positive), 1.0 / 3 * 1 + 2.0 / 3 * 3.0 / 4);
  EXPECT_FALSE(average_precision(Ordering(score), std::vector<std::uint8_t>(5, 0)).defined());
  // A constant score has the precision of the prior.
  const std::vector<double> flat(5, 1.0);
  EXPECT_DOUBLE_EQ(*average_precision(Ordering(flat), positive), 3.0 / 5);
}

}  // namespace
}  // namespace foxhunt::evaluation
