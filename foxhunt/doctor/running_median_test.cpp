#include "foxhunt/doctor/running_median.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "foxhunt/base/rng.h"

namespace foxhunt::doctor {
namespace {

TEST(RunningMedian, IsTheMiddleOfTheLastValuesSorted) {
  RunningMedian<15> running;
  std::deque<float> last;
  Rng rng(7);
  EXPECT_EQ(running.median(), 0.0F);
  for (int i = 0; i < 5000; ++i) {
    // Few different values: equal ones leave the window in any order.
    const float value = static_cast<float>(rng.next() % 9) - 4.0F;
    running.push(value);
    last.push_back(value);
    if (last.size() > 15) last.pop_front();
    std::vector<float> sorted(last.begin(), last.end());
    std::ranges::sort(sorted);
    ASSERT_EQ(running.median(), sorted[sorted.size() / 2]) << i;
    ASSERT_EQ(running.size(), last.size());
  }
}

}  // namespace
}  // namespace foxhunt::doctor
