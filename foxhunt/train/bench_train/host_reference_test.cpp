#include "foxhunt/train/bench_train/host_reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>

namespace foxhunt::train {
namespace {

double least_of(int times, const std::function<void()>& work) {
  double least = 1e9;
  for (int i = 0; i < times; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    least = std::min(
        least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

TEST(HostReference, IsWorkThatNobodyCanSkip) {
  HostReference reference(1);
  // 4 products of 2 * 256^3 flop: a core would need 10^12 flop/s to be faster than this.
  EXPECT_GT(least_of(5, [&] { reference.run_one(); }), 4 * 2.0 * 256 * 256 * 256 / 1e12);
}

TEST(HostReference, OneThreadDoesTheSameAloneOrAsAPoolOfOne) {
  HostReference reference(1);
  reference.run_one();
  const double alone = least_of(15, [&] { reference.run_one(); });
  const double pool = least_of(15, [&] { reference.run_all(); });
  // The least of 15: even where others are at work one of them is not disturbed by half.
  EXPECT_LT(std::max(alone, pool) / std::min(alone, pool), 2);
}

TEST(HostReference, ThreadsShareAsManyProgramsAsThereAreThreads) {
  HostReference reference(3);
  EXPECT_EQ(reference.threads(), 3);
  for (int i = 0; i < 3; ++i) reference.run_all();  // sanitizers watch
}

}  // namespace
}  // namespace foxhunt::train
