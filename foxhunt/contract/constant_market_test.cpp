// A market that stands still for ten million steps: the state fades to what it is driven to, and
// no value on the way may cost more than another.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "foxhunt/contract/preset.h"
#include "foxhunt/contract/replay.h"
#include "foxhunt/latency/tsc_clock.h"

namespace foxhunt::contract {
namespace {

std::uint64_t median_ticks(engine::Session& session, std::span<const float> row, std::int64_t n) {
  std::vector<float> out(static_cast<std::size_t>(session.plan().n_outputs()));
  std::vector<std::uint64_t> ticks;
  ticks.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t start = latency::read_tsc();
    session.step(row, out);
    ticks.push_back(latency::read_tsc() - start);
  }
  std::ranges::nth_element(ticks, ticks.begin() + n / 2);
  return ticks[static_cast<std::size_t>(n / 2)];
}

/// Blocks of a hundredth, typical over first and last over typical: 1.5 leaves room for a clock
/// that changes; denormal numbers cost a hundred times.
void expect_steady(std::int64_t steps) {
  const std::int64_t block = steps / 100;
  for (const auto form : {bundle::WeightForm::kF32, bundle::WeightForm::kI8}) {
    engine::Session session(
        engine::Plan::build(preset_bundle("default_hft", 1, 1000), {.form = form}));
    const std::vector<float> row(14, 0.0F);
    std::vector<double> blocks;
    for (std::int64_t i = 0; i < steps / block; ++i)
      blocks.push_back(static_cast<double>(median_ticks(session, row, block)));
    std::vector<double> sorted(blocks);
    std::ranges::sort(sorted);
    EXPECT_LT(sorted[sorted.size() / 2], 1.5 * blocks.front());
    EXPECT_LT(blocks.back(), 1.5 * sorted[sorted.size() / 2]);
  }
}

TEST(ConstantMarket, DoesNotSlowDown) { expect_steady(50'000); }
TEST(ConstantMarket, LongTenMillionStepsDoNotSlowDown) { expect_steady(10'000'000); }

}  // namespace
}  // namespace foxhunt::contract
