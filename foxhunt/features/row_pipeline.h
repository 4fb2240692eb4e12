#pragma once
// Records in, rows out, whatever the records are: bars through FeaturePipeline, order events
// through BookPipeline. Training, export and serving hold this one object.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "foxhunt/base/bytes.h"
#include "foxhunt/features/book/book_pipeline.h"
#include "foxhunt/features/pipeline.h"

namespace foxhunt::features {

class RowPipeline {
 public:
  /// Of order events where there are settings for them, else of bars.
  /// Errors  ConfigError, as of the two pipelines; libraries of a user, which take bars alone.
  RowPipeline(const FeatureConfig& features, const std::optional<BookFeatureConfig>& book,
              const market::Calendar& calendar, const market::Contract& contract);

  bool of_book() const noexcept { return std::holds_alternative<BookPipeline>(inner_); }
  const Schema& schema() const noexcept;
  std::int64_t width() const noexcept;  ///< F

  /// As FeaturePipeline::push. A record of the other source is kBadBar and changes nothing.
  /// Errors  ShapeError when `row` is not [F].
  PushResult push(const market::Bar& bar, std::span<float> row);
  PushResult push(const market::OrderEvent& event, std::span<float> row);
  PushResult push_unchecked(const market::Bar& bar, std::span<float> row) noexcept;
  PushResult push_unchecked(const market::OrderEvent& event, std::span<float> row) noexcept;

  /// Of the last bar that was taken, or of the last row of a book. Null right behind
  /// restore().
  const RowMoment& moment() const noexcept;
  /// As FeaturePipeline.
  const market::Session& session() const noexcept;
  const PushCounters& counters() const noexcept;
  std::span<const std::int64_t> not_finite() const noexcept;  ///< as FeaturePipeline; [] of books
  std::string summary() const;
  void reset() noexcept;
  void load_libraries_anew();  ///< as FeaturePipeline; nothing happens for order events
  void save(ByteWriter& to) const;
  void restore(ByteReader& from);

 private:
  void note(const market::Bar& bar, const PushResult& result) noexcept;

  std::variant<FeaturePipeline, BookPipeline> inner_;
  RowMoment of_bars_{};
};

}  // namespace foxhunt::features
