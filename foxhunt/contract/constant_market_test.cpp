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

std::uint64_t ticks_of_a_step(engine::Session& session, std::span<const float> row,
                              std::span<float> out) {
  const std::uint64_t start = latency::read_tsc();
  session.step(row, out);
  return latency::read_tsc() - start;
}

double median(std::vector<std::uint64_t> ticks) {
  const auto middle = ticks.begin() + static_cast<std::ptrdiff_t>(ticks.size() / 2);
  std::ranges::nth_element(ticks, middle);
  return static_cast<double>(*middle);
}

/// Steps in blocks of a hundredth. At the end of each, steps of the old session and of one that has
/// just begun take turns: what else the machine does slows both alike. 1.5 is room for what is left
/// of it; denormal numbers cost a hundred times.
void expect_steady(std::int64_t steps) {
  constexpr std::int64_t kBlocks = 100;
  constexpr std::int64_t kTurns = 101;
  for (const auto form : {bundle::WeightForm::kF32, bundle::WeightForm::kI8}) {
    const auto plan = engine::Plan::build(preset_bundle("default_hft", 1, 1000), {.form = form});
    engine::Session old(plan);
    engine::Session young(plan);
    const std::vector<float> row(14, 0.0F);
    std::vector<float> out(static_cast<std::size_t>(plan->n_outputs()));
    for (std::int64_t block = 0; block < kBlocks; ++block) {
      for (std::int64_t i = kTurns; i < steps / kBlocks; ++i) old.step(row, out);
      young.reset();
      std::vector<std::uint64_t> of_old;
      std::vector<std::uint64_t> of_young;
      for (std::int64_t i = 0; i < kTurns; ++i) {
        of_old.push_back(ticks_of_a_step(old, row, out));
        of_young.push_back(ticks_of_a_step(young, row, out));
      }
      EXPECT_LT(median(of_old), 1.5 * median(of_young)) << "block " << block;
    }
  }
}

TEST(ConstantMarket, DoesNotSlowDown) { expect_steady(50'000); }
TEST(ConstantMarket, LongTenMillionStepsDoNotSlowDown) { expect_steady(10'000'000); }

}  // namespace
}  // namespace foxhunt::contract
