#pragma once
// Bars for tests: by hand, and at random.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/features/pipeline.h"
#include "foxhunt/market/record.h"

namespace foxhunt::features::test {

inline constexpr std::int64_t kTick = 250'000'000;  // ES

inline Price points(double value) { return Price{std::llround(value * 1e9)}; }

inline market::Bar bar_at(UnixNanos start, double open, double high, double low, double close,
                          std::uint64_t volume) {
  return {.instrument = {.publisher_id = 1, .instrument_id = 7},
          .start = start,
          .open = points(open),
          .high = points(high),
          .low = points(low),
          .close = points(close),
          .volume = volume};
}

/// A walk in whole ticks around 1700 points, a bar a minute from `start` on.
inline std::vector<market::Bar> random_bars(Rng& rng, UnixNanos start, std::int64_t n) {
  std::vector<market::Bar> bars;
  std::int64_t price = 6800;
  const auto ticks = [&rng](std::uint64_t most) {
    return static_cast<std::int64_t>(rng.below(most + 1));
  };
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t open = price;
    price += ticks(8) - 4;
    bars.push_back({.instrument = {.publisher_id = 1, .instrument_id = 7},
                    .start = start + std::chrono::minutes{i},
                    .open = Price{open * kTick},
                    .high = Price{(std::max(open, price) + ticks(3)) * kTick},
                    .low = Price{(std::min(open, price) - ticks(3)) * kTick},
                    .close = Price{price * kTick},
                    .volume = rng.below(5000)});
  }
  return bars;
}

/// A small config: warm-up 9 bars, so that hand-made sequences can be short.
inline FeatureConfig small_config() {
  return {.return_spans = {1, 3}, .volatility_spans = {4, 8}, .volume_span = 5};
}

inline FeaturePipeline make_pipeline(const FeatureConfig& config = small_config(),
                                     const char* product = "ES") {
  static std::map<std::string, market::Calendar> calendars;  // a millisecond each to make
  auto found = calendars.find(product);
  if (found == calendars.end()) {
    found = calendars.emplace(product, market::Calendar::for_product(product)).first;
  }
  return FeaturePipeline(config, found->second, market::contract_for_product(product));
}

/// What a stream of bars gave: one answer a bar, and the rows that were ready.
struct Outcome {
  std::vector<PushResult> results;
  std::vector<std::vector<float>> rows;  ///< [bars]; empty where the bar was not ready
};

inline Outcome push_all(FeaturePipeline& pipeline, const std::vector<market::Bar>& bars) {
  Outcome outcome;
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  for (const market::Bar& bar : bars) {
    row.assign(row.size(), std::nanf(""));
    outcome.results.push_back(pipeline.push(bar, row));
    const bool ready = outcome.results.back().status == Status::kReady;
    outcome.rows.push_back(ready ? row : std::vector<float>{});
  }
  return outcome;
}

}  // namespace foxhunt::features::test
