#include "foxhunt/book/quote_view.h"

namespace foxhunt::book {
namespace {

namespace flag = market::flag;

bool has(std::uint8_t flags, std::uint8_t bit) { return (flags & bit) != 0; }

/// Behind what `side` holds already.
void append(std::array<Level, DepthView::kLevels>& side, std::size_t& at, Price price,
            std::uint32_t size, std::uint32_t orders) {
  if (price.is_null() || size == 0 || at == side.size()) return;
  side[at++] = {price, size, orders};
}

template <class Record>
QuoteHead head_of(const Record& record) {
  return {.instrument = record.instrument,
          .ts_event = record.ts_event,
          .ts_recv = record.ts_recv,
          .sequence = record.sequence,
          .flags = record.flags};
}

}  // namespace

bool view_of(const QuoteHead& head, std::span<const market::BookLevel> levels, DepthView& out) {
  if (!has(head.flags, flag::kLast)) return false;
  out = {.instrument = head.instrument,
         .ts_event = head.ts_event,
         .ts_recv = head.ts_recv,
         .sequence = head.sequence,
         .quality = {.maybe_bad_book = has(head.flags, flag::kMaybeBadBook),
                     .bad_ts_recv = has(head.flags, flag::kBadTsRecv)}};
  std::size_t bids = 0;
  std::size_t asks = 0;
  for (const market::BookLevel& level : levels) {
    append(out.bids, bids, level.bid, level.bid_size, level.bid_count);
    append(out.asks, asks, level.ask, level.ask_size, level.ask_count);
  }
  return true;
}

bool view_of(const market::TopOfBook& record, DepthView& out) {
  return view_of(head_of(record), {&record.level, 1}, out);
}

bool view_of(const market::DepthOfBook& record, DepthView& out) {
  return view_of(head_of(record), record.levels, out);
}

bool view_of(const market::Quote& record, DepthView& out) {
  QuoteHead head = head_of(record);
  head.flags |= flag::kLast;
  return view_of(head, {&record.level, 1}, out);
}

bool view_of(const market::ConsolidatedQuote& record, DepthView& out) {
  const bool is_interval = record.span.count() != 0;
  const market::BookLevel level{.bid = record.level.bid,
                                .ask = record.level.ask,
                                .bid_size = record.level.bid_size,
                                .ask_size = record.level.ask_size};
  return view_of(
      {.instrument = record.instrument,
       .ts_event = record.ts_event,
       .ts_recv = record.ts_recv,
       .flags = is_interval ? static_cast<std::uint8_t>(record.flags | flag::kLast) : record.flags},
      {&level, 1}, out);
}

}  // namespace foxhunt::book
