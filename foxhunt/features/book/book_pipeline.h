#pragma once
// BookFeatures as a row source: one instrument at a time, statuses and counters as those of
// FeaturePipeline, the moment of each row.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "foxhunt/base/bytes.h"
#include "foxhunt/features/book/book_features.h"
#include "foxhunt/features/pipeline.h"
#include "foxhunt/market/contract.h"

namespace foxhunt::features {

class BookPipeline {
 public:
  /// Errors  ConfigError as BookRows.
  BookPipeline(const BookFeatureConfig& config, const market::Calendar& calendar,
               const market::Contract& contract);

  const Schema& schema() const noexcept { return features_.schema(); }
  std::int64_t width() const noexcept { return features_.width(); }

  /// Every event of the instrument in the order of the file: what comes before the session opens,
  /// and the snapshot, build the book. An event of another instrument starts a new book.
  /// Errors  ShapeError when `row` is not [F]. Cost  as BookFeatures.
  PushResult push(const market::OrderEvent& event, std::span<float> row);

  /// Of the last row: `start` the time at the venue of the event's last record, `available_at` when
  /// it was received (never before that of the row before), `price` the mid.
  const RowMoment& moment() const noexcept { return moment_; }
  const market::Session& session() const noexcept { return features_.rows().session(); }
  const PushCounters& counters() const noexcept { return counters_; }
  /// The counters, what kept events from being rows, and what was wrong with the book.
  std::string summary() const;
  void reset() noexcept;

  /// As FeaturePipeline.
  void save(ByteWriter& to) const;
  void restore(ByteReader& from);

 private:
  BookFeatures features_;  ///< of instrument 0, whatever the real one is: no new book is allocated
  std::optional<market::InstrumentKey> instrument_{};
  RowMoment moment_{};
  PushCounters counters_{};
};

}  // namespace foxhunt::features
