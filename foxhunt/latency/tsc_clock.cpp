#include "foxhunt/latency/tsc_clock.h"

#include <cpuid.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "foxhunt/base/error.h"

namespace foxhunt::latency {
namespace {

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The tightest of many: an interrupt between the readings widens a bracket.
ClockBracket tightest_bracket() {
  ClockBracket best{.ticks_before = 0, .ticks_after = ~std::uint64_t{0}, .steady_ns = 0};
  for (int i = 0; i < 64; ++i) {
    ClockBracket one;
    one.ticks_before = read_tsc();
    one.steady_ns = steady_ns();
    one.ticks_after = read_tsc();
    if (one.ticks_after - one.ticks_before < best.ticks_after - best.ticks_before) best = one;
  }
  return best;
}

std::uint64_t median_pair_ticks() {
  std::array<std::uint64_t, 1001> pairs{};
  for (std::uint64_t& pair : pairs) {
    const std::uint64_t start = read_tsc();
    pair = read_tsc() - start;
  }
  std::nth_element(pairs.begin(), pairs.begin() + pairs.size() / 2, pairs.end());
  return pairs[pairs.size() / 2];
}

}  // namespace

TscFacts tsc_facts() noexcept {
  TscFacts facts;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0x80000001U, &a, &b, &c, &d) != 0) facts.rdtscp = (d >> 27U & 1U) != 0;
  if (__get_cpuid(0x80000007U, &a, &b, &c, &d) != 0) facts.invariant = (d >> 8U & 1U) != 0;
  return facts;
}

void require_tsc(const TscFacts& facts) {
  if (!facts.rdtscp) {
    throw DeviceError("[latency] this CPU has no rdtscp instruction: it cannot time a step");
  }
  if (!facts.invariant) {
    throw DeviceError(
        "[latency] the time-stamp counter of this CPU is not invariant (CPUID 8000_0007h, EDX bit "
        "8): its rate follows the core's clock, so that times read from it mean nothing");
  }
}

TscClock::TscClock(double ticks_per_ns, double relative_error, double pair_ns)
    : ticks_per_ns_(ticks_per_ns), relative_error_(relative_error), pair_ns_(pair_ns) {
  if (!(ticks_per_ns > 0.0)) {
    throw DeviceError(
        fmt::format("[latency] a counter at {} ticks a nanosecond is no clock", ticks_per_ns));
  }
}

TscClock clock_between(const ClockBracket& first, const ClockBracket& last, double pair_ns) {
  if (last.ticks_before <= first.ticks_after || last.steady_ns <= first.steady_ns) {
    throw DeviceError(
        fmt::format("[latency] a clock stood still or ran back: the counter from {} to {}, the "
                    "steady clock from {} ns to {} ns",
                    first.ticks_after, last.ticks_before, first.steady_ns, last.steady_ns));
  }
  const auto width = [](const ClockBracket& b) {
    return static_cast<double>(b.ticks_after - b.ticks_before);
  };
  // Differences first: absolute readings exceed the 53 bits of a double after years.
  const double ticks = static_cast<double>(last.ticks_before - first.ticks_before) +
                       (width(last) - width(first)) / 2.0;
  const auto ns = static_cast<double>(last.steady_ns - first.steady_ns);
  const double error = (width(first) + width(last)) / 2.0 / ticks + 1.0 / ns;
  return TscClock(ticks / ns, error, pair_ns);
}

TscClock calibrate_tsc(double seconds) {
  require_tsc(tsc_facts());
  const ClockBracket first = tightest_bracket();
  const auto until = first.steady_ns + static_cast<std::int64_t>(seconds * 1e9);
  while (steady_ns() < until) _mm_pause();
  const ClockBracket last = tightest_bracket();
  const TscClock rate = clock_between(first, last);
  return TscClock(rate.ticks_per_ns(), rate.relative_error(), rate.ns(median_pair_ticks()));
}

}  // namespace foxhunt::latency
