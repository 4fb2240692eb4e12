#include "foxhunt/latency/support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace foxhunt::latency {
namespace {

// The figures of the rule for a step of 3 us: 3,333 stalls/s at p99, 333 at p99.9, 33 at p99.99.
TEST(Support, AQuantileNeedsFewerStallsThanItsShareOfStepsCanBeHitBy) {
  EXPECT_NEAR(stall_limit(0.99, 3.0), 3333.3, 0.1);
  EXPECT_NEAR(stall_limit(0.999, 3.0), 333.3, 0.1);
  EXPECT_NEAR(stall_limit(0.9999, 3.0), 33.3, 0.1);
  EXPECT_TRUE(supported(0.99, 3.0, 3333.0));
  EXPECT_FALSE(supported(0.99, 3.0, 3334.0));
  EXPECT_TRUE(supported(0.999, 3.0, 333.0));
  EXPECT_FALSE(supported(0.999, 3.0, 334.0));
  EXPECT_TRUE(supported(0.5, 3.0, 2500.0));
  EXPECT_FALSE(supported(0.99, 30.0, 2500.0));  // the longer the step, the more of them are hit
}

TEST(Support, ARefusalNamesTheRateAndTheLimit) {
  const Support refused = supported(0.999, 3.0, 1300.4);
  EXPECT_EQ(refused.why_not, "1300 stalls/s, p99.9 of 3 us needs < 333");
  EXPECT_EQ(supported(0.99, 3.0, 10.0).why_not, "");
  EXPECT_EQ(supported(0.99, 3.0, std::numeric_limits<double>::infinity()).why_not,
            "stalls were not watched");
}

TEST(Support, ArgumentsThatMeanNothingAreRefusedInWords) {
  EXPECT_FALSE(supported(1.0, 3.0, 0.0));
  EXPECT_FALSE(supported(-0.1, 3.0, 0.0));
  EXPECT_FALSE(supported(std::nan(""), 3.0, 0.0));
  EXPECT_FALSE(supported(0.99, 0.0, 0.0));
  EXPECT_FALSE(supported(0.99, std::nan(""), 0.0));
  EXPECT_FALSE(supported(0.99, 3.0, std::nan("")));
  EXPECT_FALSE(supported(0.99, 3.0, -1.0));
  EXPECT_FALSE(supported(0.99, 3.0, -1.0).why_not.empty());
}

TEST(Support, AQuantileNeedsTenSamplesBeyondIt) {
  EXPECT_TRUE(enough_samples(0.99, 1000));
  EXPECT_FALSE(enough_samples(0.99, 999));
  EXPECT_TRUE(enough_samples(0.999, 10000));
  EXPECT_TRUE(enough_samples(0.9999, 100000));
  EXPECT_EQ(enough_samples(0.9999, 99999).why_not, "99999 samples, p99.99 needs 100000");
  EXPECT_TRUE(enough_samples(0.5, 20));
  EXPECT_FALSE(enough_samples(0.5, 0));
}

}  // namespace
}  // namespace foxhunt::latency
