#pragma once
// Records of trades and order books as they lie in a DBN file; the same in versions 1, 2 and 3.
//
// Prices are int64 in 1e-9 units, times uint64 nanoseconds since 1970 UTC; undefined values are the
// format's (2^63-1, 2^64-1, sizes 2^32-1). Natural alignment without padding, little endian: a
// record at an address that is a multiple of eight may be looked at in place, any other is copied.
// Source  Databento's public description of DBN; tests hold every offset to the official decoder's.

#include <array>
#include <cstdint>

namespace foxhunt::market::dbn {

/// In front of every record of the versions 1 to 3.
struct RecordHeader {
  std::uint8_t length;  ///< of the whole record, ts_out included, in units of four bytes
  std::uint8_t rtype;
  std::uint16_t publisher_id;
  std::uint32_t instrument_id;  ///< unique only within (dataset, UTC date)
  std::uint64_t ts_event;
};
static_assert(sizeof(RecordHeader) == 16);

struct Level {
  std::int64_t bid_px, ask_px;
  std::uint32_t bid_sz, ask_sz;
  std::uint32_t bid_ct, ask_ct;  ///< orders
};
static_assert(sizeof(Level) == 32);

struct ConsolidatedLevel {
  std::int64_t bid_px, ask_px;
  std::uint32_t bid_sz, ask_sz;
  std::uint16_t bid_pb;  ///< publisher of the bid
  std::array<char, 2> reserved1;
  std::uint16_t ask_pb;
  std::array<char, 2> reserved2;
};
static_assert(sizeof(ConsolidatedLevel) == 32);

struct MboMsg {
  RecordHeader hd;
  std::uint64_t order_id;
  std::int64_t price;
  std::uint32_t size;
  std::uint8_t flags;
  std::uint8_t channel_id;
  char action;
  char side;
  std::uint64_t ts_recv;
  std::int32_t ts_in_delta;
  std::uint32_t sequence;
};
static_assert(sizeof(MboMsg) == 56);

struct TradeMsg {
  RecordHeader hd;
  std::int64_t price;
  std::uint32_t size;
  char action;
  char side;
  std::uint8_t flags;
  std::uint8_t depth;
  std::uint64_t ts_recv;
  std::int32_t ts_in_delta;
  std::uint32_t sequence;
};
static_assert(sizeof(TradeMsg) == 48);

struct Mbp1Msg {
  RecordHeader hd;
  std::int64_t price;
  std::uint32_t size;
  char action;
  char side;
  std::uint8_t flags;
  std::uint8_t depth;
  std::uint64_t ts_recv;
  std::int32_t ts_in_delta;
  std::uint32_t sequence;
  std::array<Level, 1> levels;
};
static_assert(sizeof(Mbp1Msg) == 80);

struct Mbp10Msg {
  RecordHeader hd;
  std::int64_t price;
  std::uint32_t size;
  char action;
  char side;
  std::uint8_t flags;
  std::uint8_t depth;
  std::uint64_t ts_recv;
  std::int32_t ts_in_delta;
  std::uint32_t sequence;
  std::array<Level, 10> levels;
};
static_assert(sizeof(Mbp10Msg) == 368);

struct BboMsg {
  RecordHeader hd;
  std::int64_t price;
  std::uint32_t size;
  std::uint8_t reserved1;
  char side;
  std::uint8_t flags;
  std::uint8_t reserved2;
  std::uint64_t ts_recv;
  std::array<char, 4> reserved3;
  std::uint32_t sequence;
  std::array<Level, 1> levels;
};
static_assert(sizeof(BboMsg) == 80);

struct Cmbp1Msg {
  RecordHeader hd;
  std::int64_t price;
  std::uint32_t size;
  char action;
  char side;
  std::uint8_t flags;
  std::array<char, 1> reserved1;
  std::uint64_t ts_recv;
  std::int32_t ts_in_delta;
  std::array<char, 4> reserved2;
  std::array<ConsolidatedLevel, 1> levels;
};
static_assert(sizeof(Cmbp1Msg) == 80);

struct CbboMsg {
  RecordHeader hd;
  std::int64_t price;
  std::uint32_t size;
  std::uint8_t reserved1;
  char side;
  std::uint8_t flags;
  std::uint8_t reserved2;
  std::uint64_t ts_recv;
  std::array<char, 8> reserved3;
  std::array<ConsolidatedLevel, 1> levels;
};
static_assert(sizeof(CbboMsg) == 80);

}  // namespace foxhunt::market::dbn
