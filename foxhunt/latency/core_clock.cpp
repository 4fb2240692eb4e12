#include "foxhunt/latency/core_clock.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace foxhunt::latency {
namespace {

constexpr int kLinks = 16;
constexpr int kTurns = 512;

// One asm block, so that the chain is the same at every optimisation level.
void add_chain() noexcept {
  std::uint64_t sum = 1;
  const std::uint64_t one = 1;
  for (int turn = 0; turn < kTurns; ++turn) {
    asm volatile(
        "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
        "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
        "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
        "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
        : "+r"(sum)
        : "r"(one)
        : "cc");
  }
}

}  // namespace

CoreClock measure_core_clock(const TscClock& clock, int samples) {
  std::vector<double> ghz(static_cast<std::size_t>(std::max(samples, 1)));
  add_chain();
  for (double& one : ghz) {
    const std::uint64_t start = read_tsc();
    add_chain();
    const std::uint64_t ticks = read_tsc() - start;
    // The pair of readings is part of the sample, and known.
    const double ns = std::max(clock.ns(ticks) - clock.pair_ns(), 1.0);
    one = kLinks * kTurns / ns;
  }
  std::sort(ghz.begin(), ghz.end());
  return {.median_ghz = ghz[ghz.size() / 2], .best_ghz = ghz.back()};
}

}  // namespace foxhunt::latency
