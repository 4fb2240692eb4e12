#include "foxhunt/book/quote_view.h"

namespace foxhunt::book {
namespace {

bool has(std::uint8_t flags, std::uint8_t bit) { return (flags & bit) != 0; }

/// Behind what `side` holds already.
void append(std::array<Level, DepthView::kLevels>& side, std::size_t& at, Price price,
            std::uint32_t size, std::uint32_t orders) {
  if (price.is_null() || size == 0 || at == side.size()) return;
  side[at++] = {price, size, orders};
}

}  // namespace

bool view_of(const QuoteHead& head, std::span<const market::BookLevel> levels, DepthView& out) {
  if (!has(head.flags, market::flag::kLast)) return false;
  out = {.instrument = head.instrument,
         .ts_event = head.ts_event,
         .ts_recv = head.ts_recv,
         .sequence = head.sequence,
         .quality = {.maybe_bad_book = has(head.flags, market::flag::kMaybeBadBook),
                     .bad_ts_recv = has(head.flags, market::flag::kBadTsRecv)}};
  std::size_t bids = 0;
  std::size_t asks = 0;
  for (const market::BookLevel& level : levels) {
    append(out.bids, bids, level.bid, level.bid_size, level.bid_count);
    append(out.asks, asks, level.ask, level.ask_size, level.ask_count);
  }
  return true;
}

bool view_of(const market::TopOfBook& record, DepthView& out) {
  return view_of({.instrument = record.instrument,
                  .ts_event = record.ts_event,
                  .ts_recv = record.ts_recv,
                  .sequence = record.sequence,
                  .flags = record.flags},
                 {&record.level, 1}, out);
}

}  // namespace foxhunt::book
