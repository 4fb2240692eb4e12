#pragma once
// Trades, quotes and order books as plain values; nulls explicit.

#include <array>
#include <chrono>
#include <cstdint>

#include "foxhunt/market/record_parts.h"

namespace foxhunt::market {

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

/// mbp-10: every change of the ten best levels, best first. A level that is not there has null
/// prices and size 0.
struct DepthOfBook {
  InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;
  UnixNanos ts_recv = kNullTime;
  Price price{};
  std::uint32_t size = 0;  ///< contracts; 0 where the file says none
  char action = 'N';       ///< as TopOfBook
  Side side = Side::kNone;
  std::uint8_t flags = 0;
  std::uint8_t depth = 0;  ///< level that changed
  std::uint32_t sequence = 0;
  std::int32_t ts_in_delta = 0;
  std::array<BookLevel, 10> levels{};
};

/// bbo-1s, bbo-1m: the best level at the end of an interval, and the last trade in or before it.
struct Quote {
  InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;  ///< of the last change; null, or before the file's start
  UnixNanos ts_recv = kNullTime;   ///< end of the interval: known then
  std::chrono::nanoseconds span{std::chrono::seconds{1}};
  Price price{};           ///< of the last trade; null where there was none
  std::uint32_t size = 0;  ///< of the last trade, contracts
  Side side = Side::kNone;
  std::uint8_t flags = 0;
  std::uint32_t sequence = 0;
  BookLevel level{};
};

/// cmbp-1 and tcbbo (every change or trade), cbbo-1s and cbbo-1m (intervals that end at ts_recv).
struct ConsolidatedQuote {
  InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;
  UnixNanos ts_recv = kNullTime;
  std::chrono::nanoseconds span{0};  ///< 0: an event
  Price price{};
  std::uint32_t size = 0;
  char action = 'N';  ///< of an event; 'N' for intervals
  Side side = Side::kNone;
  std::uint8_t flags = 0;
  std::int32_t ts_in_delta = 0;  ///< of an event, ns
  ConsolidatedLevel level{};
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

}  // namespace foxhunt::market
