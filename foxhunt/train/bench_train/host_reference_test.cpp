#include "foxhunt/train/bench_train/host_reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>

namespace foxhunt::train {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(HostReference, IsWorkThatNobodyCanSkip) {
  HostReference reference(1);
  // 4 products of 2 * 256^3 flop: a core would need 10^12 flop/s to be faster than this.
  double least = 1e9;
  for (int i = 0; i < 5; ++i) least = std::min(least, seconds_of([&] { reference.run_one(); }));
  EXPECT_GT(least, 4 * 2.0 * 256 * 256 * 256 / 1e12);
}

TEST(HostReference, OneThreadDoesTheSameAloneOrAsAPoolOfOne) {
  HostReference reference(1);
  reference.run_one();
  // They take turns, so that a busy minute meets both; the least of 15 turns is hardly disturbed.
  double alone = 1e9;
  double pool = 1e9;
  for (int i = 0; i < 15; ++i) {
    alone = std::min(alone, seconds_of([&] { reference.run_one(); }));
    pool = std::min(pool, seconds_of([&] { reference.run_all(); }));
  }
  EXPECT_LT(std::max(alone, pool) / std::min(alone, pool), 2);
}

TEST(HostReference, ThreadsShareAsManyProgramsAsThereAreThreads) {
  HostReference reference(3);
  EXPECT_EQ(reference.threads(), 3);
  for (int i = 0; i < 3; ++i) reference.run_all();  // sanitizers watch
}

}  // namespace
}  // namespace foxhunt::train
