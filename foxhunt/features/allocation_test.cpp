// Counts what operator new hands out while bars pass through.
#include <gtest/gtest.h>

#include "foxhunt/features/test_bars.h"
#include "foxhunt/latency/count_allocations.h"

namespace foxhunt::features {
namespace {

using latency::thread_allocations;

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
  const std::int64_t before = thread_allocations();
  for (const market::Bar& bar : bars) pipeline.push(bar, row);
  EXPECT_EQ(thread_allocations() - before, 0);
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
  const std::int64_t before_restored = thread_allocations();
  for (std::size_t i = 200; i < bars.size(); ++i) restored.push_unchecked(bars[i], row);
  EXPECT_EQ(thread_allocations() - before_restored, 0);
  EXPECT_GT(restored.counters().ready, 400);
  EXPECT_GT(thread_allocations(), 0);  // the counter counts
}

}  // namespace
}  // namespace foxhunt::features
