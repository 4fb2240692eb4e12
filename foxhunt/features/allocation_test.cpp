// Counts allocations of this whole test program: replaces operator new and delete.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "foxhunt/features/test_bars.h"

namespace {
std::atomic<std::int64_t> allocations{0};
}  // namespace

// Not inlined: where GCC sees both bodies it takes malloc and free for a mismatch of new and
// delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace foxhunt::features {
namespace {

TEST(FeaturePipeline, AllocatesNothingAfterConstruction) {
  Rng rng(3);
  // Two sessions, a duplicate, a bad bar, a hole, another contract: every way through push().
  std::vector<market::Bar> bars = test::random_bars(rng, parse_time("2013-10-07T22:00"), 400);
  const auto more = test::random_bars(rng, parse_time("2013-10-08T22:00"), 400);
  bars.insert(bars.end(), more.begin(), more.end());
  bars[10] = bars[9];
  bars[11].close = Price::null();
  bars[12].start += std::chrono::minutes{45};
  for (std::size_t i = 600; i < bars.size(); ++i) bars[i].instrument.instrument_id = 8;

  FeaturePipeline pipeline = test::make_pipeline(FeatureConfig{});
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  const std::int64_t before = allocations;
  for (const market::Bar& bar : bars) pipeline.push(bar, row);
  EXPECT_EQ(allocations - before, 0);
  EXPECT_GT(pipeline.counters().ready, 400);

  // Nor does a pipeline that goes on from a saved state.
  pipeline.reset();
  for (std::size_t i = 0; i < 200; ++i) pipeline.push(bars[i], row);
  ByteWriter state;
  pipeline.save(state);
  ByteReader from(state.bytes(), "state");
  FeaturePipeline restored = test::make_pipeline(FeatureConfig{});
  restored.restore(from);
  static_assert(noexcept(restored.push_unchecked(bars[0], row)));
  const std::int64_t before_restored = allocations;
  for (std::size_t i = 200; i < bars.size(); ++i) restored.push_unchecked(bars[i], row);
  EXPECT_EQ(allocations - before_restored, 0);
  EXPECT_GT(restored.counters().ready, 400);
  EXPECT_GT(allocations, 0);  // the counter counts
}

}  // namespace
}  // namespace foxhunt::features
