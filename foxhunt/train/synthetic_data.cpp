#include "foxhunt/train/synthetic_data.h"

#include <algorithm>
#include <chrono>

#include "foxhunt/base/rng.h"
#include "foxhunt/features/row_pipeline.h"
#include "foxhunt/market/contract.h"

namespace foxhunt::train {
namespace {

features::Schema schema_of(const ExperimentConfig& config) {
  return features::RowPipeline(config.features, config.book_settings(),
                               market::Calendar::for_product(config.data.product),
                               market::contract_for_product(config.data.product))
      .schema();
}

Sequence sequence_of(std::int64_t width, std::int64_t length, UnixNanos begin, Rng& rng) {
  Sequence s;
  s.width = width;
  for (std::int64_t t = 0; t < length; ++t) {
    for (std::int64_t f = 0; f < width; ++f) s.rows.push_back(static_cast<float>(rng.normal()));
    s.bar_start.push_back(begin + std::chrono::minutes(t));
    s.available_at.push_back(s.bar_start.back() + std::chrono::minutes(1));
    s.close.push_back(Price{1'000'000'000'000});
    s.labels.valid.push_back(1);
    s.labels.classes.push_back(static_cast<std::int8_t>(rng.below(kClasses)));
    s.labels.value.push_back(static_cast<float>(rng.normal()));
    s.labels.end.push_back(s.available_at.back());
    s.labels.persistence.push_back(kFlat);
  }
  return s;
}

}  // namespace

std::int64_t feature_width(const ExperimentConfig& config) {
  return static_cast<std::int64_t>(schema_of(config).columns.size());
}

SyntheticData synthetic_data(const ExperimentConfig& config, std::int64_t train_windows,
                             std::int64_t valid_rows) {
  const features::Schema schema = schema_of(config);
  const auto width = static_cast<std::int64_t>(schema.columns.size());
  Rng rng = Rng(7).split("synthetic rows");
  const UnixNanos begin = parse_time("2013-10-07");
  const WindowConfig& w = config.windows;
  const std::int64_t step = std::max<std::int64_t>(w.step(), 1);
  SequenceSet set{.schema = schema};
  set.sequences.push_back(sequence_of(width, w.length + (train_windows - 1) * step, begin, rng));
  const UnixNanos later = set.sequences[0].available_at.back() + std::chrono::hours(1);
  set.sequences.push_back(sequence_of(width, valid_rows, later, rng));
  features::NormalizerFit fit(schema, {.first = begin, .last = later});
  const Sequence& train = set.sequences[0];
  // A few rows do: what is normal already needs no careful scale.
  for (std::int64_t t = 0; t < std::min<std::int64_t>(train.length(), 4096); ++t)
    fit.add(train.available_at[static_cast<std::size_t>(t)], train.row(t));
  Split split;
  split.parts = {std::vector<Part>(static_cast<std::size_t>(train.length()), Part::kTrain),
                 std::vector<Part>(static_cast<std::size_t>(valid_rows), Part::kValid)};
  return {.set = std::move(set),
          .split = std::move(split),
          .normalizer = fit.finish(config.features.clip),
          .windows = config.windows};
}

}  // namespace foxhunt::train
