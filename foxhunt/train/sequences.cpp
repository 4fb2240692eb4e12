#include "foxhunt/train/sequences.h"

#include <fmt/format.h>

#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"
#include "foxhunt/market/calendar.h"
#include "foxhunt/market/contract.h"

namespace foxhunt::train {
namespace {

/// These places of every array; what is empty stays so.
Labels labels_at(const Labels& labels, std::span<const std::size_t> places) {
  const auto some = [places](const auto& all) {
    std::decay_t<decltype(all)> out;
    if (all.empty()) return out;
    out.reserve(places.size());
    for (const std::size_t place : places) out.push_back(all[place]);
    return out;
  };
  return {.valid = some(labels.valid),
          .classes = some(labels.classes),
          .value = some(labels.value),
          .end = some(labels.end),
          .persistence = some(labels.persistence),
          .walk_mean = some(labels.walk_mean),
          .walk_sd = some(labels.walk_sd)};
}

}  // namespace

std::string SequenceCounters::summary() const {
  std::string text = fmt::format("{} records, {} selected", selection.records, selection.selected);
  const auto add = [&text](std::int64_t count, const char* what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(selection.other_type, "of other types");
  add(selection.other_product, "of other products");
  add(selection.other_contract, "of other contracts");
  add(selection.unmapped, "without a known symbol");
  text += "; " + pipeline;
  text += fmt::format("; {} rows, {} with a label", rows, labelled);
  add(label_beyond_sequence, "whose label would leave the sequence");
  add(label_without_volatility, "too early for the past that a label looks back on");
  add(sequences_without_rows, "sequences shorter than the warm-up");
  return text;
}

SequenceBuilder::SequenceBuilder(const market::BarFilter& filter,
                                 const features::FeatureConfig& features,
                                 bundle::LabelConfig labels,
                                 const std::optional<features::BookFeatureConfig>& book)
    : label_config_(labels),
      tick_(market::contract_for_product(filter.product).tick),
      selector_(filter),
      pipeline_(features, book, market::Calendar::for_product(filter.product),
                market::contract_for_product(filter.product)),
      row_(static_cast<std::size_t>(pipeline_.width())) {
  config::require_in_range(config::fields_of(label_config_), "labels");
  set_.schema = pipeline_.schema();
}

void SequenceBuilder::add(market::Reader& reader) {
  if (pipeline_.of_book()) {
    take_all<market::OrderEvent>(reader);
  } else {
    take_all<market::Bar>(reader);
  }
}

template <class Record>
void SequenceBuilder::take_all(market::Reader& reader) {
  while (const Record* record = selector_.next_of<Record>(reader))
    take(pipeline_.push(*record, row_), record->instrument);
}

void SequenceBuilder::take(const features::PushResult& result,
                           const market::InstrumentKey& instrument) {
  using features::Status;
  if (result.starts_sequence) {
    close_sequence();
    open_.sequence.instrument = instrument;
    open_.sequence.symbol = selector_.symbol();
    open_.sequence.trade_date = pipeline_.session().trade_date;
    open_.sequence.width = pipeline_.width();
  }
  // Of a book every event warms up, but only samples are steps: what is no row is no past of
  // labels.
  // A bar without a row has a close all the same.
  const bool is_past = (result.status == Status::kWarmingUp && !pipeline_.of_book()) ||
                       result.status == Status::kNotFinite;
  if (result.status != Status::kReady && !is_past) return;
  const features::RowMoment& moment = pipeline_.moment();
  open_.close.push_back(moment.price);
  open_.available_at.push_back(moment.available_at);
  if (result.status != Status::kReady) return;
  open_.rows.push_back(open_.close.size() - 1);
  Sequence& sequence = open_.sequence;
  sequence.rows.insert(sequence.rows.end(), row_.begin(), row_.end());
  sequence.bar_start.push_back(moment.start);
  sequence.available_at.push_back(moment.available_at);
  sequence.close.push_back(moment.price);
}

void SequenceBuilder::close_sequence() {
  Open done = std::exchange(open_, {});
  if (done.close.empty()) return;
  Sequence& sequence = done.sequence;
  const std::size_t rows = sequence.available_at.size();
  if (rows == 0) {
    ++set_.counters.sequences_without_rows;
    return;
  }
  const Labels labels = make_labels(
      label_config_, {.close = done.close, .available_at = done.available_at, .tick = tick_});
  sequence.labels = labels_at(labels, done.rows);
  SequenceCounters& counters = set_.counters;
  for (std::size_t t = 0; t < rows; ++t) {
    ++counters.rows;
    if (sequence.labels.valid[t] != 0) {
      ++counters.labelled;
    } else if (static_cast<std::int64_t>(done.close.size() - done.rows[t]) <=
               label_config_.horizon) {
      ++counters.label_beyond_sequence;
    } else {
      ++counters.label_without_volatility;
    }
  }
  // They stay for the whole run: no room for rows that never come.
  sequence.rows.shrink_to_fit();
  sequence.bar_start.shrink_to_fit();
  sequence.available_at.shrink_to_fit();
  sequence.close.shrink_to_fit();
  set_.sequences.push_back(std::move(sequence));
}

SequenceSet SequenceBuilder::finish() {
  close_sequence();
  set_.counters.selection = selector_.counters();
  set_.counters.bars = pipeline_.counters();
  set_.counters.pipeline = pipeline_.summary();
  if (set_.sequences.empty()) {
    throw DataError(fmt::format("[data] no feature row came out: {}", set_.counters.summary()));
  }
  return std::move(set_);
}

}  // namespace foxhunt::train
