// Threads: the cut is the caller's, so the bits are too.
#include "foxhunt/kernels/scan/chunked.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "foxhunt/kernels/scan/decay.h"
#include "foxhunt/kernels/scan/scan_test_support.h"
#include "foxhunt/kernels/scan/segmented.h"

namespace foxhunt::kernels {
namespace {

template <std::size_t Width>
std::vector<DecayStep<float, Width>> draw_steps(std::size_t size) {
  Rng rng(size);
  std::vector<DecayStep<float, Width>> steps(size);
  for (auto& s : steps) {
    // Long memory: with short decays what a carry's rounding changed is forgotten at once.
    s.decay = static_cast<float>(rng.uniform(0.99, 1));
    for (float& x : s.increment) x = static_cast<float>(rng.normal());
  }
  return steps;
}

template <class Value>
bool same_bits(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(Value)) == 0;
}

template <std::size_t Width>
void expect_equal_bits_on_any_number_of_threads() {
  using Op = DecayOperator<float, Width>;
  const auto in = draw_steps<Width>(5003);
  for (const std::int64_t chunk : {1, 7, 64, 1000, 10000}) {
    for (const Inclusion inclusion : {Inclusion::kInclusive, Inclusion::kExclusive}) {
      auto want = in;
      scan(Chunked{.chunk = chunk}, Op(), in, want, inclusion);
      for (const int threads : {1, 2, 3, 5}) {
        ThreadPool pool(threads);
        for (int repeat = 0; repeat < 5; ++repeat) {
          auto out = in;
          scan(Chunked{.chunk = chunk, .pool = &pool}, Op(), in, out, inclusion);
          EXPECT_TRUE(same_bits(out, want)) << threads << " threads, chunks of " << chunk;
        }
        auto in_place = in;
        scan(Chunked{.chunk = chunk, .pool = &pool}, Op(), in_place, in_place, inclusion);
        EXPECT_TRUE(same_bits(in_place, want)) << threads << " threads in place, " << chunk;
      }
    }
  }
}

TEST(Chunked, AnyNumberOfThreadsGivesTheSameBits) {
  expect_equal_bits_on_any_number_of_threads<1>();  // walked side by side
  expect_equal_bits_on_any_number_of_threads<6>();  // one chunk after the other
}

TEST(Chunked, TheCutIsTheOnlyThingThatMovesRounding) {
  // Where this fails, the test above could not see a cut that follows the threads.
  const auto in = draw_steps<1>(5003);
  auto a = in;
  auto b = in;
  scan(Chunked{.chunk = 64}, DecayOperator<float>(), in, a);
  scan(Chunked{.chunk = 100}, DecayOperator<float>(), in, b);
  EXPECT_FALSE(same_bits(a, b));
}

TEST(Chunked, SegmentedScansGiveTheSameBitsOnAnyNumberOfThreads) {
  using Op = DecayOperator<float>;
  const auto in = draw_steps<1>(3001);
  std::vector<std::uint8_t> resets(in.size());
  for (std::size_t t = 0; t < resets.size(); t += 111) resets[t] = 1;
  auto want = in;
  segmented_scan(Chunked{.chunk = 50}, Op(), in, resets, want);
  for (const int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    auto out = in;
    segmented_scan(Chunked{.chunk = 50, .pool = &pool}, Op(), in, resets, out);
    EXPECT_TRUE(same_bits(out, want)) << threads;
  }
}

TEST(Chunked, AChunkThatHoldsAllIsTheSequentialScan) {
  const auto in = draw_steps<1>(777);
  auto want = in;
  scan(SequentialScan{}, DecayOperator<float>(), in, want);
  for (const std::int64_t chunk : {std::int64_t{777}, std::numeric_limits<std::int64_t>::max()}) {
    auto out = in;
    scan(Chunked{.chunk = chunk}, DecayOperator<float>(), in, out);
    EXPECT_TRUE(same_bits(out, want)) << chunk;
  }
}

}  // namespace
}  // namespace foxhunt::kernels
