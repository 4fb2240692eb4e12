#include "foxhunt/serve/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "foxhunt/base/error.h"

namespace foxhunt::serve {

std::string_view text_of(const char (&symbol)[kSymbolBytes]) {
  return {symbol, ::strnlen(symbol, kSymbolBytes)};
}

void set_text(char (&symbol)[kSymbolBytes], std::string_view text) {
  if (text.size() >= kSymbolBytes) {
    throw DataError(fmt::format("[serve] symbol '{}' has {} characters, at most {} fit into a ring",
                                text, text.size(), kSymbolBytes - 1));
  }
  std::ranges::fill(symbol, '\0');
  std::ranges::copy(text, symbol);
}

RecordSlot slot_of(const market::Bar& bar, std::string_view symbol, bool has_symbols) {
  RecordSlot slot{.start = count(bar.start),
                  .span = bar.span.count(),
                  .open = bar.open.nano,
                  .high = bar.high.nano,
                  .low = bar.low.nano,
                  .close = bar.close.nano,
                  .volume = bar.volume,
                  .instrument_id = bar.instrument.instrument_id,
                  .publisher_id = bar.instrument.publisher_id,
                  .has_symbols = static_cast<std::uint16_t>(has_symbols ? 1 : 0)};
  set_text(slot.symbol, symbol);
  return slot;
}

OrderSlot slot_of(const market::OrderEvent& event, std::string_view symbol, bool has_symbols) {
  OrderSlot slot{.event = count(event.ts_event),
                 .received = count(event.ts_recv),
                 .order_id = event.order_id,
                 .price = event.price.nano,
                 .size = event.size,
                 .sequence = event.sequence,
                 .instrument_id = event.instrument.instrument_id,
                 .delta = event.ts_in_delta,
                 .publisher_id = event.instrument.publisher_id,
                 .has_symbols = static_cast<std::uint16_t>(has_symbols ? 1 : 0),
                 .flags = event.flags,
                 .channel_id = event.channel_id,
                 .action = event.action,
                 .side = static_cast<char>(event.side)};
  set_text(slot.symbol, symbol);
  return slot;
}

market::OrderEvent record_of(const OrderSlot& slot) {
  return {.instrument = {.publisher_id = slot.publisher_id, .instrument_id = slot.instrument_id},
          .ts_event = from_nanos(slot.event),
          .ts_recv = from_nanos(slot.received),
          .order_id = slot.order_id,
          .price = Price{slot.price},
          .size = market::stated_size(slot.size),
          .action = slot.action,
          .side = market::side_of(slot.side),
          .flags = slot.flags,
          .channel_id = slot.channel_id,
          .sequence = slot.sequence,
          .ts_in_delta = slot.delta};
}

market::Bar record_of(const RecordSlot& slot) {
  return {.instrument = {.publisher_id = slot.publisher_id, .instrument_id = slot.instrument_id},
          .start = from_nanos(slot.start),
          .span = std::chrono::nanoseconds{slot.span},
          .open = Price{slot.open},
          .high = Price{slot.high},
          .low = Price{slot.low},
          .close = Price{slot.close},
          .volume = slot.volume};
}

}  // namespace foxhunt::serve
