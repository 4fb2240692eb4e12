#pragma once
// What the market said, as plain values: prices int64 in 1e-9 units, times int64 nanoseconds UTC,
// nulls explicit.
//
// The layout is ours, not the file's: readers copy out of DBN (docs of that format give no
// alignment) and CSV.

#include <chrono>
#include <cstdint>
#include <string_view>
#include <variant>

#include "foxhunt/market/book_record.h"
#include "foxhunt/market/record_parts.h"
#include "foxhunt/market/venue_record.h"

namespace foxhunt::market {

/// A bar. It is known at `end()`, not at `start`: whoever acts on it acts at or after its end.
struct Bar {
  InstrumentKey instrument{};
  UnixNanos start =
      kNullTime;  ///< start of the interval (files stamped with the end are shifted by the reader)
  std::chrono::nanoseconds span{std::chrono::minutes{1}};
  Price open{}, high{}, low{}, close{};
  std::uint64_t volume = 0;  ///< contracts

  UnixNanos end() const { return start + span; }
};

using Record =
    std::variant<Bar, Trade, TopOfBook, Definition, OrderEvent, DepthOfBook, Quote,
                 ConsolidatedQuote, Statistic, Status, Imbalance, SymbolMapping, Message>;
static_assert(sizeof(Record) <= 400, "a record is held and copied everywhere");

/// Index time of a record, by which files are ordered: ts_recv where there is one, else ts_event
/// (the start of a bar).
UnixNanos index_time(const Record& record);
InstrumentKey instrument_of(const Record& record);
/// "bar", "top of book", …: for messages.
std::string_view kind_of(const Record& record);

}  // namespace foxhunt::market
