#pragma once
// Readers, bars and sequences for tests.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/features/test_bars.h"
#include "foxhunt/market/fake_reader.h"
#include "foxhunt/train/sequences.h"

namespace foxhunt::train::test {

using features::test::random_bars;
using market::test::FakeReader;
using market::test::kOpen;
using market::test::mapped;

inline SequenceSet build(const std::vector<market::Bar>& bars, const bundle::LabelConfig& labels,
                         const features::FeatureConfig& features = features::test::small_config()) {
  SequenceBuilder builder({}, features, labels);
  FakeReader reader(bars);
  builder.add(reader);
  return builder.finish();
}

/// Labels over `horizon` bars that need no past.
inline bundle::LabelConfig tick_labels(std::int64_t horizon, double dead_zone = 1) {
  return {.horizon = horizon,
          .dead_zone = dead_zone,
          .dead_zone_unit = bundle::DeadZoneUnit::kTicks,
          .scale_return = false};
}

/// A sequence of `length` rows, a minute each, whose labels end `horizon` rows later (at most at
/// the sequence's last row; beyond it they are invalid). Column 0 counts rows from `first_value`
/// on, column 1 is 1. Every class appears.
inline Sequence counted_sequence(UnixNanos first_end, std::int64_t length, std::int64_t horizon,
                                 float first_value = 0) {
  Sequence sequence;
  sequence.width = 2;
  for (std::int64_t t = 0; t < length; ++t) {
    const auto at = [&](std::int64_t i) { return first_end + std::chrono::minutes{i}; };
    const bool valid = t + horizon < length;
    sequence.rows.insert(sequence.rows.end(), {first_value + static_cast<float>(t), 1.0F});
    sequence.bar_start.push_back(at(t - 1));
    sequence.available_at.push_back(at(t));
    sequence.close.push_back(Price{1'000'000'000});
    sequence.labels.valid.push_back(valid ? 1 : 0);
    sequence.labels.classes.push_back(valid ? static_cast<std::int8_t>(t % 3)
                                            : std::int8_t{kNoClass});
    sequence.labels.value.push_back(valid ? first_value + static_cast<float>(t) + 0.5F : 0.0F);
    sequence.labels.end.push_back(valid ? at(t + horizon) : kNullTime);
    sequence.labels.persistence.push_back(kNoClass);
  }
  return sequence;
}

/// Schema of counted_sequence().
inline features::Schema counted_schema() {
  return {.columns = {{"count", "rows", 1, ""}, {"one", "", 1, ""}}};
}

}  // namespace foxhunt::train::test
