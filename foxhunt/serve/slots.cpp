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

market::Bar bar_of(const RecordSlot& slot) {
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
