#pragma once
// Records of bars, sessions, auctions and statistics as they lie in a DBN file.
//
// Prices are int64 in 1e-9 units, times uint64 nanoseconds since 1970 UTC; undefined values are the
// format's (2^63-1, 2^64-1, sizes 2^32-1). Natural alignment without padding, little endian: a
// record at an address that is a multiple of eight may be looked at in place, any other is copied.
// Source  Databento's public description of DBN; tests hold every offset to the official decoder's.

#include <array>
#include <cstdint>

#include "foxhunt/market/dbn/book_records.h"

namespace foxhunt::market::dbn {

struct OhlcvMsg {
  RecordHeader hd;
  std::int64_t open;
  std::int64_t high;
  std::int64_t low;
  std::int64_t close;
  std::uint64_t volume;
};
static_assert(sizeof(OhlcvMsg) == 56);

struct StatusMsg {
  RecordHeader hd;
  std::uint64_t ts_recv;
  std::uint16_t action;
  std::uint16_t reason;
  std::uint16_t trading_event;
  char is_trading;
  char is_quoting;
  char is_short_sell_restricted;
  std::array<char, 7> reserved;
};
static_assert(sizeof(StatusMsg) == 40);

struct ImbalanceMsg {
  RecordHeader hd;
  std::uint64_t ts_recv;
  std::int64_t ref_price;
  std::uint64_t auction_time;
  std::int64_t cont_book_clr_price;
  std::int64_t auct_interest_clr_price;
  std::int64_t ssr_filling_price;
  std::int64_t ind_match_price;
  std::int64_t upper_collar;
  std::int64_t lower_collar;
  std::uint32_t paired_qty;
  std::uint32_t total_imbalance_qty;
  std::uint32_t market_imbalance_qty;
  std::uint32_t unpaired_qty;
  char auction_type;
  char side;
  std::uint8_t auction_status;
  std::uint8_t freeze_status;
  std::uint8_t num_extensions;
  char unpaired_side;
  char significant_imbalance;
  std::array<char, 1> reserved;
};
static_assert(sizeof(ImbalanceMsg) == 112);

struct StatMsg {
  RecordHeader hd;
  std::uint64_t ts_recv;
  std::uint64_t ts_ref;
  std::int64_t price;
  std::int64_t quantity;
  std::uint32_t sequence;
  std::int32_t ts_in_delta;
  std::uint16_t stat_type;
  std::uint16_t channel_id;
  std::uint8_t update_action;
  std::uint8_t stat_flags;
  std::array<char, 18> reserved;
};
static_assert(sizeof(StatMsg) == 80);

struct StatMsgV1 {
  RecordHeader hd;
  std::uint64_t ts_recv;
  std::uint64_t ts_ref;
  std::int64_t price;
  std::int32_t quantity;
  std::uint32_t sequence;
  std::int32_t ts_in_delta;
  std::uint16_t stat_type;
  std::uint16_t channel_id;
  std::uint8_t update_action;
  std::uint8_t stat_flags;
  std::array<char, 6> reserved;
};
static_assert(sizeof(StatMsgV1) == 64);

}  // namespace foxhunt::market::dbn
