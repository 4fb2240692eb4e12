#include "foxhunt/train/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "foxhunt/base/error.h"

namespace foxhunt::train {
namespace {

/// The rest of the epoch, in batches of `batch`.
std::vector<std::int64_t> rest(WindowSampler& sampler, std::int64_t batch) {
  std::vector<std::int64_t> all;
  while (!sampler.epoch_done()) {
    const auto some = sampler.next(batch);
    if (some.empty()) {
      ADD_FAILURE() << "no window comes, but the epoch is not done after " << all.size();
      break;
    }
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

TEST(WindowSampler, VisitsEveryWindowOnceAnEpoch) {
  WindowSampler sampler(101, Rng(1));
  for (int epoch = 0; epoch < 3; ++epoch) {
    sampler.start_epoch(epoch);
    std::vector<std::int64_t> seen = rest(sampler, 7);
    ASSERT_EQ(seen.size(), 101U);
    EXPECT_FALSE(std::is_sorted(seen.begin(), seen.end()));
    std::sort(seen.begin(), seen.end());
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<std::int64_t>(i));
    EXPECT_TRUE(sampler.next(7).empty());
  }
}

TEST(WindowSampler, OrderDependsOnSeedAndEpochAlone) {
  WindowSampler a(50, Rng(1));
  a.start_epoch(3);
  const auto third = rest(a, 8);
  WindowSampler b(50, Rng(1));
  for (int epoch = 0; epoch < 3; ++epoch) {
    b.start_epoch(epoch);
    EXPECT_NE(rest(b, 5), third);
  }
  b.start_epoch(3);
  EXPECT_EQ(rest(b, 11), third);
  WindowSampler c(50, Rng(2));
  c.start_epoch(3);
  EXPECT_NE(rest(c, 8), third);
}

TEST(WindowSampler, GoesOnWhereItWasSaved) {
  WindowSampler whole(60, Rng(9));
  whole.start_epoch(2);
  const auto all = rest(whole, 7);
  for (const std::int64_t steps : {0, 1, 4, 9}) {
    WindowSampler first(60, Rng(9));
    first.start_epoch(2);
    for (std::int64_t i = 0; i < steps; ++i) first.next(7);
    const SamplerState saved = first.state();
    WindowSampler resumed(60, Rng(9));
    resumed.restore(saved);
    EXPECT_EQ(resumed.state(), saved);
    const auto left = rest(resumed, 7);
    const std::int64_t done = std::min<std::int64_t>(60, 7 * steps);
    EXPECT_EQ(left, std::vector<std::int64_t>(all.begin() + done, all.end()));
  }
}

TEST(WindowSampler, RefusesAPlaceThatIsNone) {
  WindowSampler sampler(10, Rng(1));
  EXPECT_THROW(sampler.restore({.epoch = 0, .position = 11}), FormatError);
  EXPECT_THROW(sampler.restore({.epoch = -1, .position = 0}), FormatError);
  EXPECT_THROW(sampler.restore({.epoch = 0, .position = -1}), FormatError);
  EXPECT_NO_THROW(sampler.restore({.epoch = 0, .position = 10}));
  EXPECT_TRUE(sampler.epoch_done());
}

}  // namespace
}  // namespace foxhunt::train
