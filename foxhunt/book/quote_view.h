#pragma once
// The view of a feed that gives levels instead of orders: mbp-1, tbbo, mbp-10, bbo, and those over
// several venues (cmbp-1, tcbbo, cbbo).

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

/// Of mbp-10: its levels after the record.
bool view_of(const market::DepthOfBook& record, DepthView& out);

/// Of bbo-1s, bbo-1m: the best level at the end of the interval, known at ts_recv. An interval ends
/// at a time, not with an event: always true, whatever LAST says of the change before it.
bool view_of(const market::Quote& record, DepthView& out);

/// Best prices over all venues, without a number of orders or a sequence; which venue quotes them
/// the view does not say. Of cmbp-1: after the record. Of tcbbo: just before the trade. Of cbbo-1s
/// and cbbo-1m: as bbo.
bool view_of(const market::ConsolidatedQuote& record, DepthView& out);

}  // namespace foxhunt::book
