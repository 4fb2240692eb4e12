#pragma once
// The inside of BookRows: what it is made of and what it remembers. Inside of the room only.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "foxhunt/features/book/book_rows.h"
#include "foxhunt/features/book/book_terms.h"

namespace foxhunt::features {

/// In the order in which rows are written.
Schema make_book_schema(const BookFeatureConfig& config);
/// Errors  ConfigError with everything that is wrong, one a line.
void require_usable(BookFeatureConfig config, Price tick);

/// A new member belongs into book_rows_state.cpp, too, unless the rest gives it.
struct BookMemory {
  std::int64_t views = 0;    ///< of the current sequence
  book::DepthView last{};    ///< the view before, where views > 0: the levels that are looked at
  UnixNanos at = kNullTime;  ///< latest time of the sequence
  std::array<std::int64_t, kBookStatuses> counts{};
  std::int64_t sequences = 0;
  std::int64_t steps_back = 0;
};

struct BookRows::Impl {
  Impl(BookFeatureConfig c, Price t, std::optional<market::Calendar> cal);

  BookPush take(const book::DepthView* view, const EventTally& tally,
                std::span<float> row) noexcept;
  /// What keeps a view out of every window; kReady where nothing does.
  BookStatus fault_of(const book::DepthView* view) noexcept;
  bool finds_session(UnixNanos at) noexcept;
  bool wants(const book::DepthView& view, const EventTally& tally, bool top_changed) const noexcept;
  void write(const book::DepthView& view, std::span<float> row) const noexcept;
  void keep(const book::DepthView& view) noexcept;
  void forget() noexcept;

  BookFeatureConfig config;
  Price tick;
  std::optional<market::Calendar> calendar;
  Schema schema;
  std::int64_t warm_up;
  std::size_t levels;  ///< that are looked at
  TermLayout layout;
  TermWindows windows;
  std::vector<std::int64_t> terms;  ///< scratch of take()
  market::Session session{};        ///< what the calendar says of memory.at
  BookMemory memory;
};

}  // namespace foxhunt::features
