#pragma once
// Readers, bars and sequences for tests.

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/features/test_bars.h"
#include "foxhunt/market/reader.h"
#include "foxhunt/train/sequences.h"

namespace foxhunt::train::test {

using features::test::random_bars;

inline const UnixNanos kOpen = parse_time("2013-10-07T22:00");  ///< ES session of 2013-10-08

/// Hands out what it was given.
class FakeReader final : public market::Reader {
 public:
  explicit FakeReader(const std::vector<market::Bar>& bars, market::StreamInfo info = {})
      : info_(std::move(info)), records_(bars.begin(), bars.end()) {}
  void add(market::Record record) { records_.push_back(std::move(record)); }

  const market::StreamInfo& info() const override { return info_; }
  const market::Record* next() override {
    return stats_.records < static_cast<std::int64_t>(records_.size())
               ? &records_[static_cast<std::size_t>(stats_.records++)]
               : nullptr;
  }
  const market::ReadStats& stats() const override { return stats_; }

 private:
  market::StreamInfo info_;
  market::ReadStats stats_;
  std::vector<market::Record> records_;
};

/// A file that says which id is which symbol.
inline market::StreamInfo mapped(const std::map<std::uint32_t, std::string>& symbols) {
  market::StreamInfo info;
  for (const auto& [id, symbol] : symbols) {
    info.mappings.push_back({.raw_symbol = symbol,
                             .start = parse_date("2013-01-01"),
                             .end = parse_date("2014-01-01"),
                             .instrument_id = id});
  }
  return info;
}

inline SequenceSet build(const std::vector<market::Bar>& bars, const LabelConfig& labels,
                         const features::FeatureConfig& features = features::test::small_config()) {
  SequenceBuilder builder({}, features, labels);
  FakeReader reader(bars);
  builder.add(reader);
  return builder.finish();
}

/// Labels over `horizon` bars that need no past.
inline LabelConfig tick_labels(std::int64_t horizon, double dead_zone = 1) {
  return {.horizon = horizon,
          .dead_zone = dead_zone,
          .dead_zone_unit = DeadZoneUnit::kTicks,
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
