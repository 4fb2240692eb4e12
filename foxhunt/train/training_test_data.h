#pragma once
// Small hand-made sequences for tests of the trainer: the label is a known function of the rows.
// Tests only.

#include <functional>

#include "foxhunt/base/rng.h"
#include "foxhunt/features/normalizer.h"
#include "foxhunt/train/sequences.h"
#include "foxhunt/train/split.h"
#include "foxhunt/train/window_trainer.h"

namespace foxhunt::train::test {

struct TestData {
  SequenceSet set;
  Split split;
  features::Normalizer normalizer;
  WindowConfig windows{.length = 32, .burn_in = 8};

  TrainingData view() const {
    return {.set = set, .split = split, .normalizer = normalizer, .windows = windows};
  }
};

/// `sequences` days of `length` rows of `width` standard normal features; label(rows so far, row
/// index) says the class and may change the row. The first 60 % of the days train, the next 20 %
/// validate, the rest test. Every row is labelled.
inline TestData make_data(
    Rng rng, int sequences, std::int64_t length, std::int64_t width,
    const std::function<std::int8_t(std::vector<float>&, std::int64_t)>& label) {
  SequenceSet set;
  for (std::int64_t f = 0; f < width; ++f) {
    features::Column column;
    column.name = "x" + std::to_string(f);
    column.unit = "1";
    set.schema.columns.push_back(std::move(column));
  }
  std::vector<std::vector<Part>> parts;
  const UnixNanos begin = parse_time("2013-10-07");
  for (int s = 0; s < sequences; ++s) {
    Sequence sequence;
    sequence.width = width;
    const Part part = s * 10 < sequences * 6   ? Part::kTrain
                      : s * 10 < sequences * 8 ? Part::kValid
                                               : Part::kTest;
    for (std::int64_t t = 0; t < length; ++t) {
      for (std::int64_t f = 0; f < width; ++f)
        sequence.rows.push_back(static_cast<float>(rng.normal()));
      sequence.bar_start.push_back(begin + std::chrono::days(s) + std::chrono::minutes(t));
      sequence.available_at.push_back(sequence.bar_start.back() + std::chrono::minutes(1));
      sequence.close.push_back(Price{1'700'000'000'000});
      sequence.labels.valid.push_back(1);
      sequence.labels.classes.push_back(label(sequence.rows, t));
      sequence.labels.value.push_back(static_cast<float>(sequence.labels.classes.back()) - 1.0F);
      sequence.labels.end.push_back(sequence.available_at.back());
      sequence.labels.persistence.push_back(kFlat);
    }
    parts.emplace_back(static_cast<std::size_t>(length), part);
    set.sequences.push_back(std::move(sequence));
  }
  features::NormalizerFit fit(set.schema,
                              {.first = begin, .last = begin + std::chrono::days(sequences)});
  for (std::size_t s = 0; s < set.sequences.size(); ++s) {
    if (parts[s].front() != Part::kTrain) continue;
    for (std::int64_t t = 0; t < length; ++t)
      fit.add(set.sequences[s].available_at[static_cast<std::size_t>(t)], set.sequences[s].row(t));
  }
  Split split;
  split.parts = std::move(parts);
  return {.set = std::move(set), .split = std::move(split), .normalizer = fit.finish(10.0)};
}

}  // namespace foxhunt::train::test
