#pragma once
// Records of DBN, versions 1, 2 and 3: names, sizes, and bytes <-> the values of record.h.
//
// Only the record's bytes matter here; framing and what to do with bad sizes is the reader's.
// Source  Databento's public description of DBN and the official test files.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "foxhunt/market/record.h"

namespace foxhunt::market {

inline constexpr std::size_t kDbnHeaderSize = 16;
inline constexpr std::size_t kDbnLengthUnit = 4;    ///< bytes a step of the length byte stands for
inline constexpr std::size_t kDbnMaxRecord = 1020;  ///< 255 such steps
inline constexpr std::size_t kDbnTsOutSize = 8;
inline constexpr std::size_t kDbnBarSize = 56;
inline constexpr std::size_t kDbnDefinitionSize = 520;  ///< of version 3

namespace rtype {
inline constexpr int kTrades = 0x00;
inline constexpr int kMbp1 = 0x01;  ///< tbbo too
inline constexpr int kMbp10 = 0x0A;
inline constexpr int kOhlcvOld = 0x11;
inline constexpr int kStatus = 0x12;
inline constexpr int kDefinition = 0x13;
inline constexpr int kImbalance = 0x14;
inline constexpr int kError = 0x15;
inline constexpr int kSymbolMapping = 0x16;
inline constexpr int kSystem = 0x17;
inline constexpr int kStatistics = 0x18;
inline constexpr int kOhlcv1s = 0x20;
inline constexpr int kOhlcv1m = 0x21;
inline constexpr int kOhlcv1h = 0x22;
inline constexpr int kOhlcv1d = 0x23;
inline constexpr int kOhlcvEod = 0x24;
inline constexpr int kMbo = 0xA0;
inline constexpr int kCmbp1 = 0xB1;
inline constexpr int kCbbo1s = 0xC0;
inline constexpr int kCbbo1m = 0xC1;
inline constexpr int kTcbbo = 0xC2;
inline constexpr int kBbo1s = 0xC3;
inline constexpr int kBbo1m = 0xC4;
}  // namespace rtype

struct DbnRecordKind {
  int rtype;
  std::string_view name;
  std::array<std::uint16_t, 3> sizes;  ///< bytes in version 1, 2, 3, without ts_out
};

/// nullptr for a type that this code does not know.
const DbnRecordKind* find_dbn_record_kind(int rtype);

/// Whether a record of `size` bytes is one of this type as some version writes it, with or without
/// ts_out: how a file without metadata is told from text.
bool is_plausible_dbn_record(int rtype, std::size_t size);

/// What the version of a file without metadata must be, by its records of one type; 0: all are the
/// same. Where two versions share a layout, the newer one.
int dbn_version_by_size(int rtype, std::size_t size);

/// The version whose layout a record of `size` bytes (without ts_out) has: a size that is exactly
/// one version's means that version (of several the newest, but the file's where it is one of
/// them), any other the file's.
int dbn_layout_version(const DbnRecordKind& kind, std::size_t size, int file_version);

/// The interval of the bars of a type; nullopt for other types and for 0x11, whose interval only
/// the schema of the file tells. End-of-day bars get 24 hours: no session is longer, so that
/// whoever acts at Bar::end() never looks ahead.
std::optional<std::chrono::nanoseconds> dbn_bar_span(int rtype);
/// The record type for a schema of bars ("ohlcv-1m"), nullopt for others.
std::optional<int> dbn_bar_rtype(std::string_view schema);

// Each takes a record of at least the size of its kind, at any address. Undefined values become
// nulls; times after the year 2262 do too, sizes become 0, sides that do not exist kNone.
Bar decode_bar(std::span<const std::byte> record, std::chrono::nanoseconds span);
Trade decode_trade(std::span<const std::byte> record);
TopOfBook decode_top_of_book(std::span<const std::byte> record);
OrderEvent decode_order_event(std::span<const std::byte> record);
Definition decode_definition(std::span<const std::byte> record, int layout_version);

/// Errors  DataError: a time before 1970.
std::array<std::byte, kDbnBarSize> encode_bar(const Bar& bar, int rtype);
/// As version 3. What Definition does not hold is undefined.
/// Errors  DataError: a time before 1970, a text too long for its field.
std::array<std::byte, kDbnDefinitionSize> encode_definition(const Definition& definition);

}  // namespace foxhunt::market
