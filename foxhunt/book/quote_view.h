#pragma once
// The view of a feed that gives levels instead of orders: mbp-1, tbbo, mbp-10, bbo.

#include <span>

#include "foxhunt/book/view.h"
#include "foxhunt/market/record.h"

namespace foxhunt::book {

/// Where the levels of a quote come from and how good they are.
struct QuoteHead {
  market::InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;
  UnixNanos ts_recv = kNullTime;
  std::uint32_t sequence = 0;
  std::uint8_t flags = 0;  ///< market::flag
};

/// Levels as a record gives them, best first; those beyond the tenth are left out, and a level with
/// a null price or no size is empty: what is behind it moves up.
/// False, and `out` untouched, where the record does not end its event (flag LAST).
bool view_of(const QuoteHead& head, std::span<const market::BookLevel> levels, DepthView& out);

/// Of mbp-1: the best level after the record. Of tbbo: the one just before the trade.
bool view_of(const market::TopOfBook& record, DepthView& out);

}  // namespace foxhunt::book
