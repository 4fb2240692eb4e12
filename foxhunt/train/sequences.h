#pragma once
// From files to sequences: feature rows, labels and prices of every stretch of trading without a
// break.
//
// The records of a product, bars or order events, pass once through the same RowPipeline that
// serves. Nothing but the rows stays in memory.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/features/feature_config.h"
#include "foxhunt/features/row_pipeline.h"
#include "foxhunt/features/schema.h"
#include "foxhunt/market/bar_selector.h"
#include "foxhunt/market/reader.h"
#include "foxhunt/train/labels.h"

namespace foxhunt::train {

/// Rows of one sequence, oldest first. T >= 1 rows, F columns; place t is the same bar, or sample
/// of the book, in every array.
struct Sequence {
  market::InstrumentKey instrument;
  std::string symbol;  ///< "ESZ3"; "" where the file does not say
  Date trade_date{};
  std::int64_t width = 0;               ///< F
  std::vector<float> rows;              ///< [T, F] raw features
  std::vector<UnixNanos> bar_start;     ///< [T] start of the bar, or the event's time at the venue
  std::vector<UnixNanos> available_at;  ///< [T] when the row is known, RowMoment; never decreasing
  std::vector<Price> close;             ///< [T] close of the bar, or mid of the book
  Labels labels;                        ///< [T]

  std::int64_t length() const { return static_cast<std::int64_t>(available_at.size()); }
  std::span<const float> row(std::int64_t t) const {
    return std::span(rows).subspan(static_cast<std::size_t>(t * width),
                                   static_cast<std::size_t>(width));
  }
};

/// What became of every record.
struct SequenceCounters {
  market::SelectionCounters selection;
  features::PushCounters bars;                ///< of the selected records, by the pipeline
  std::string pipeline{};                     ///< the same for people
  std::int64_t sequences_without_rows = 0;    ///< shorter than the warm-up
  std::int64_t rows = 0;                      ///< = bars.ready = labelled + the two below
  std::int64_t labelled = 0;                  ///< with a valid label
  std::int64_t label_beyond_sequence = 0;     ///< the label would cross the sequence's end
  std::int64_t label_without_volatility = 0;  ///< too little past for its volatility or mean

  /// For people: what was kept, and of what was dropped how much and why.
  std::string summary() const;
};

struct SequenceSet {
  features::Schema schema;
  std::vector<Sequence> sequences{};  ///< in the order of the data
  SequenceCounters counters{};
};

class SequenceBuilder {
 public:
  /// Errors  ConfigError: unknown product, bad feature or label config.
  SequenceBuilder(const market::BarFilter& filter, const features::FeatureConfig& features,
                  bundle::LabelConfig labels,
                  const std::optional<features::BookFeatureConfig>& book = std::nullopt);

  /// Reads to the end. Files come in the order of time; a sequence may go on from one file into the
  /// next. Errors  as market::BarSelector::next.
  void add(market::Reader& reader);

  /// Closes the last sequence and hands everything over. Call once.
  /// Errors  DataError with the counters when no row came out.
  SequenceSet finish();

 private:
  /// The sequence that is being read. Labels look back over the warm-up too, so closes and times of
  /// all its bars or samples are kept until it ends.
  struct Open {
    Sequence sequence;
    std::vector<Price> close;
    std::vector<UnixNanos> available_at;
    std::vector<std::size_t> rows;  ///< places of those that have a row
  };

  template <class Record>
  void take_all(market::Reader& reader);
  void take(const features::PushResult& result, const market::InstrumentKey& instrument);
  void close_sequence();

  bundle::LabelConfig label_config_;
  Price tick_;
  market::BarSelector selector_;
  features::RowPipeline pipeline_;
  SequenceSet set_;
  Open open_;
  std::vector<float> row_;  ///< [F]
};

}  // namespace foxhunt::train
