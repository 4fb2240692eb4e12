#pragma once
// Saving, restoring, and streams in which everything happens, for tests.

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/base/bytes.h"
#include "foxhunt/features/test_bars.h"

namespace foxhunt::features::test {

inline const UnixNanos kOpen = parse_time("2013-10-07T22:00");  ///< of the session of 2013-10-08

inline std::vector<std::byte> saved(const FeaturePipeline& pipeline) {
  ByteWriter out;
  pipeline.save(out);
  return out.take();
}

inline void restore(FeaturePipeline& pipeline, std::span<const std::byte> bytes) {
  ByteReader in(bytes, "a.state");
  pipeline.restore(in);
  in.finish();
}

inline std::string refusal(FeaturePipeline pipeline, std::span<const std::byte> bytes) {
  const auto before = saved(pipeline);
  try {
    restore(pipeline, bytes);
  } catch (const FormatError& error) {
    EXPECT_EQ(saved(pipeline), before);
    return error.what();
  }
  return "";
}

/// Days of bars with everything that happens to a stream: breaks, halts, holes, other contracts,
/// duplicates, steps back, bad bars of each kind.
inline std::vector<market::Bar> eventful_bars(Rng& rng, std::int64_t n) {
  UnixNanos at = kOpen - std::chrono::minutes{5};
  std::vector<market::Bar> bars = random_bars(rng, at, n);
  std::uint32_t contract = 7;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    market::Bar& bar = bars[i];
    at += std::chrono::minutes{1};
    const std::uint64_t event = rng.below(120);
    if (event == 0) at += std::chrono::minutes{1 + rng.below(90)};  // a hole, long or not
    if (event == 1) at += std::chrono::hours{20};                   // another session
    if (event == 2) at = parse_time("2013-10-08T20:05") + std::chrono::hours{24 * rng.below(4)};
    if (event == 3) ++contract;
    bar.start = at;
    bar.instrument.instrument_id = contract;
    if (event == 4 && i > 0) bar = bars[i - 1];
    if (event == 5) bar.start -= std::chrono::minutes{3};
    if (event == 6) bar.close = Price::null();
    if (event == 7) bar.low = Price{-5};
    if (event == 8) std::swap(bar.high, bar.low), bar.high.nano -= 1;
    if (event == 9) bar.span = std::chrono::minutes{5};
    if (event == 10) bar.volume = ~std::uint64_t{0} - rng.below(2);
  }
  return bars;
}

}  // namespace foxhunt::features::test
