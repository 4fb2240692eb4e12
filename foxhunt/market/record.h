#pragma once
// What the market said, as plain values: prices int64 in 1e-9 units, times int64 nanoseconds UTC,
// nulls explicit.
//
// The layout is ours, not the file's: readers copy out of DBN (docs of that format give no
// alignment) and CSV.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "foxhunt/base/price.h"
#include "foxhunt/base/time.h"

namespace foxhunt::market {

/// One instrument on one day: ids are unique only within (dataset, UTC date).
struct InstrumentKey {
  std::uint16_t publisher_id = 0;
  std::uint32_t instrument_id = 0;
  friend bool operator==(const InstrumentKey&, const InstrumentKey&) = default;
};

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

enum class Side : char { kAsk = 'A', kBid = 'B', kNone = 'N' };

/// A trade. `side` is the aggressor's: kBid bought, kAsk sold, kNone unknown (as is any byte the
/// format does not define).
struct Trade {
  InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;
  UnixNanos ts_recv = kNullTime;  ///< index time: files are ordered by it
  Price price{};
  std::uint32_t size = 0;  ///< contracts; 0 where the file says none
  char action = 'T';
  Side side = Side::kNone;
  std::uint8_t flags = 0;
  std::uint8_t depth = 0;  ///< book level touched
  std::uint32_t sequence = 0;
  std::int32_t ts_in_delta = 0;  ///< ns
};

/// One price level on both sides; an empty side has a null price and size 0.
struct BookLevel {
  Price bid{}, ask{};
  std::uint32_t bid_size = 0, ask_size = 0;
  std::uint32_t bid_count = 0, ask_count = 0;
};

/// mbp-1 (every change of the best level) and tbbo (every trade with the level just before it).
struct TopOfBook {
  InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;
  UnixNanos ts_recv = kNullTime;
  Price price{};
  std::uint32_t size = 0;  ///< contracts; 0 where the file says none
  char action = 'N';       ///< A add, C cancel, M modify, T trade, R clear, N none
  Side side = Side::kNone;
  std::uint8_t flags = 0;
  std::uint8_t depth = 0;
  std::uint32_t sequence = 0;
  std::int32_t ts_in_delta = 0;
  BookLevel level{};
};

/// One event of a market-by-order feed. Add, cancel, modify and clear change the book; trade, fill
/// and none never do.
struct OrderEvent {
  InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;
  UnixNanos ts_recv = kNullTime;
  std::uint64_t order_id = 0;
  Price price{};
  std::uint32_t size =
      0;  ///< contracts: resting (A, M), taken away (C), traded (T, F); 0 where the file says none
  char action = 'N';  ///< A add, C cancel, M modify, R clear the book, T trade, F fill, N none
  Side side = Side::kNone;  ///< of the order; of a trade the aggressor's
  std::uint8_t flags = 0;   ///< namespace flag
  std::uint8_t channel_id = 0;
  std::uint32_t sequence = 0;
  std::int32_t ts_in_delta = 0;  ///< ns
};

/// Bits of a record's flags; test bits, never equality.
namespace flag {
inline constexpr std::uint8_t kLast =
    0x80;  ///< last record of the venue's event: only now the book may be looked at
inline constexpr std::uint8_t kTopOfBook = 0x40;
inline constexpr std::uint8_t kSnapshot = 0x20;  ///< state from before the file, not an event
inline constexpr std::uint8_t kMarketByPrice = 0x10;
inline constexpr std::uint8_t kBadTsRecv = 0x08;
inline constexpr std::uint8_t kMaybeBadBook = 0x04;  ///< a gap that the feed could not recover
}  // namespace flag

/// What an instrument is, at a point in time. Undefined fields of the file are empty.
struct Definition {
  InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;
  UnixNanos ts_recv = kNullTime;
  std::string raw_symbol{};
  std::string asset{};     ///< "ES"
  std::string exchange{};  ///< "XCME"
  std::string currency{};
  char instrument_class =
      '?';  ///< F future, S future spread, C call, P put, T option spread, K stock …
  char update_action = '?';  ///< A add, M modify, D delete
  Price min_price_increment{};
  Price display_factor{};
  Price unit_of_measure_qty{};  ///< contract size in 1e-9 units (ES: 50e9)
  Price strike_price{};
  std::optional<UnixNanos> expiration{};
  std::optional<UnixNanos> activation{};
};

using Record = std::variant<Bar, Trade, TopOfBook, Definition, OrderEvent>;

/// Index time of a record, by which files are ordered: ts_recv where there is one, else the bar's
/// start.
UnixNanos index_time(const Record& record);
InstrumentKey instrument_of(const Record& record);

}  // namespace foxhunt::market
