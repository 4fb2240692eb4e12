#pragma once
// What venues say about instruments and sessions, as plain values; nulls explicit. Numbers whose
// meaning a venue adds to over time stay numbers.

#include <cstdint>
#include <optional>
#include <string>

#include "foxhunt/market/record_parts.h"

namespace foxhunt::market {

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

/// One statistic of a venue: settlement, open interest, session high …
struct Statistic {
  InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;
  UnixNanos ts_recv = kNullTime;
  UnixNanos ts_ref = kNullTime;  ///< the day or time that it speaks of; null: none
  Price price{};
  std::optional<std::int64_t> quantity{};
  std::uint16_t type = 0;  ///< 1 opening price, 3 settlement, 6 cleared volume, 9 open interest …
  std::uint16_t channel_id = 0;
  std::uint8_t update_action = 1;  ///< 1 new, 2 delete
  std::uint8_t flags = 0;
  std::uint32_t sequence = 0;
  std::int32_t ts_in_delta = 0;  ///< ns
};

/// The trading status of an instrument.
struct Status {
  InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;
  UnixNanos ts_recv = kNullTime;
  std::uint16_t action = 0;  ///< 1 pre-open, 7 trading, 8 halt, 9 pause, 12 close …
  std::uint16_t reason = 0;
  std::uint16_t trading_event = 0;
  std::optional<bool> is_trading{};  ///< empty: the venue does not say
  std::optional<bool> is_quoting{};
  std::optional<bool> is_short_sell_restricted{};
};

/// The state of an auction.
struct Imbalance {
  InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;
  UnixNanos ts_recv = kNullTime;
  Price ref_price{};
  Price clearing_price{};    ///< of the continuous book
  Price interest_price{};    ///< of auction interest alone
  Price indicative_price{};  ///< at which most would match
  std::optional<std::uint32_t> paired_qty{};
  std::optional<std::uint32_t> total_imbalance_qty{};
  char auction_type = '?';
  Side side = Side::kNone;  ///< of the imbalance
};

/// From now on (or on [start, end)) an id stands for a symbol: live streams have these instead of
/// the symbols in a file's metadata.
struct SymbolMapping {
  InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;
  std::string stype_in{};  ///< "raw_symbol", …; "" where unknown
  std::string in_symbol{};
  std::string stype_out{};
  std::string out_symbol{};
  UnixNanos start = kNullTime;  ///< null: open
  UnixNanos end = kNullTime;    ///< exclusive; null: open
};

/// What a live gateway says about the stream itself.
struct Message {
  InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;
  bool is_error = false;
  std::optional<std::uint8_t> code{};  ///< empty: unset, or a version without codes
  std::string text{};
};

}  // namespace foxhunt::market
