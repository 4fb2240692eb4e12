#include "foxhunt/proofs/training_rows.h"

#include <algorithm>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/market/bar_selector.h"
#include "foxhunt/proofs/memory_reader.h"

namespace foxhunt::proofs {
namespace {

using market::Bar;

features::RowPipeline make_pipeline(const std::string& product,
                                    const features::FeatureConfig& config) {
  return {config, std::nullopt, market::Calendar::for_product(product),
          market::contract_for_product(product)};
}

std::int64_t label_past(const bundle::LabelConfig& label) {
  return label.uses_volatility() ? label.volatility_span + 1 : 1;
}

}  // namespace

std::vector<Series> series_of(features::Schema rows, const bundle::LabelConfig& label) {
  const std::int64_t past = label_past(label);
  rows.columns.push_back({.name = "persistence",
                          .unit = "class",
                          .warm_up = std::max(label.horizon + 1, past),
                          .help = "class of the move over the last bars"});
  features::Schema labels{.columns = {{"class", "class", past, "what a model is to learn"},
                                      {"value", "return", past, "what a model is to learn"}}};
  return {{.name = "features", .schema = std::move(rows)},
          {.name = "label", .schema = std::move(labels), .reach = label.horizon}};
}

std::vector<Entries> entries_of(std::span<const train::Sequence> sequences) {
  std::vector<Entries> out(2);
  for (const train::Sequence& sequence : sequences) {
    const train::Labels& labels = sequence.labels;
    for (std::int64_t t = 0; t < sequence.length(); ++t) {
      const auto i = static_cast<std::size_t>(t);
      const UnixNanos at = sequence.available_at[i];
      const auto values = sequence.row(t);
      out[0].decided_at.push_back(at);
      out[0].known_at.push_back(at);
      out[0].values.insert(out[0].values.end(), values.begin(), values.end());
      out[0].values.push_back(labels.persistence[i]);
      if (labels.valid[i] == 0) continue;
      out[1].decided_at.push_back(at);
      out[1].known_at.push_back(labels.end[i]);
      out[1].values.insert(out[1].values.end(),
                           {static_cast<float>(labels.classes[i]), labels.value[i]});
    }
  }
  return out;
}

TrainingRows::TrainingRows(std::string product, features::FeatureConfig features,
                           bundle::LabelConfig label)
    : product_(std::move(product)),
      features_(std::move(features)),
      label_(label),
      fresh_(make_pipeline(product_, features_)),
      series_(series_of(fresh_.schema(), label_)) {}

train::SequenceSet TrainingRows::sequences(std::span<const Bar> bars) const {
  train::SequenceBuilder builder({.product = product_}, features_, label_);
  MemoryReader<Bar> reader(bars);
  builder.add(reader);
  return builder.finish();
}

std::vector<Entries> TrainingRows::run(std::span<const Bar> bars) const {
  // The builder refuses data without a single row; as a source that is an empty answer.
  features::RowPipeline first = pipeline();
  std::vector<float> row(static_cast<std::size_t>(first.width()));
  const bool any = std::ranges::any_of(bars, [&](const Bar& bar) {
    return first.push(bar, row).status == features::Status::kReady;
  });
  if (!any) return std::vector<Entries>(series_.size());
  return entries_of(sequences(bars).sequences);
}

UsableBars usable_bars(const train::ExperimentConfig& config) {
  market::BarSelector selector({.product = config.data.product, .symbol = config.data.symbol});
  features::RowPipeline pipeline = make_pipeline(config.data.product, config.features);
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  UsableBars out;
  for (const std::string& path : config.data.files) {
    const auto reader = market::open_reader(path, {.csv = config.data.csv});
    while (const Bar* bar = selector.next(*reader)) {
      const features::Status status = pipeline.push(*bar, row).status;
      using features::Status;
      if (status == Status::kReady || status == Status::kWarmingUp ||
          status == Status::kNotFinite) {
        out.bars.push_back(*bar);
      } else {
        ++out.left_out;
      }
    }
  }
  out.records = selector.counters().records;
  return out;
}

}  // namespace foxhunt::proofs
