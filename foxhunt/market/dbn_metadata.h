#pragma once
// The metadata in front of the records of a DBN file, versions 1, 2 and 3: bytes <-> plain values.
//
//   "DBN" version(1) length(4) | `length` bytes of body | records …
//
// Source  Databento's public description of DBN and the official test files.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/market/reader.h"

namespace foxhunt::market {

inline constexpr std::size_t kDbnPreludeSize = 8;
inline constexpr std::uint32_t kMaxDbnMetadata = std::uint32_t{1}
                                                 << 30;  ///< bytes; more is refused
inline constexpr int kNewestDbnVersion = 3;

/// As it stands in the file; names of the numbers through the functions below.
struct DbnMetadata {
  struct Interval {
    std::uint32_t start = 0;  ///< YYYYMMDD, UTC
    std::uint32_t end = 0;    ///< exclusive
    std::string symbol;       ///< "" = not mapped on these days
  };
  struct Mapping {
    std::string raw_symbol;
    std::vector<Interval> intervals;
  };

  int version = kNewestDbnVersion;
  std::string dataset;
  std::uint16_t schema = 0xFFFF;  ///< 0xFFFF: mixed
  std::uint64_t start = 0;        ///< ns since 1970, UTC
  std::uint64_t end = ~std::uint64_t{0};
  std::uint64_t limit = 0;       ///< 0: none
  std::uint8_t stype_in = 0xFF;  ///< 0xFF: mixed
  std::uint8_t stype_out = 0;
  bool ts_out = false;
  std::vector<std::string> symbols;
  std::vector<std::string> partial;
  std::vector<std::string> not_found;
  std::vector<Mapping> mappings;
};

struct DbnPrelude {
  int version = 0;
  std::uint32_t length =
      0;  ///< of the body; the first record stands behind it, whatever was parsed
};

/// Reads the first eight bytes. Errors  FormatError naming `file`: no DBN, a version other than
/// 1 … 3, a length that cannot be.
DbnPrelude parse_dbn_prelude(std::span<const std::byte> bytes, std::string_view file);

/// Reads a body of prelude.length bytes. Every count is held against the bytes that are there
/// before anything is allocated.
/// Errors  FormatError naming `file`, the field and its byte offset in the (decompressed) file.
DbnMetadata parse_dbn_metadata(const DbnPrelude& prelude, std::span<const std::byte> body,
                               std::string_view file);

/// Prelude and body as version 3, padded to a multiple of eight.
/// Errors  DataError naming the text that is too long for its field.
std::string encode_dbn_metadata(const DbnMetadata& metadata);

/// Mappings become (symbol, days, id), whichever of the two the query gave. Left out are days
/// without a symbol and mappings between two kinds of text.
/// Errors  FormatError naming `file` and the value: a date that is none, an id that is no number.
StreamInfo to_stream_info(const DbnMetadata& metadata, std::string_view file);
/// The way back, for version 3. Errors  DataError naming the field.
DbnMetadata from_stream_info(const StreamInfo& info);

/// "ohlcv-1m", "mixed" for 0xFFFF, "schema-77" for one that came after this was written.
std::string schema_name(std::uint16_t schema);
/// "raw_symbol", "" for 0xFF, "stype-77" for one that came after this was written.
std::string stype_name(std::uint8_t stype);

}  // namespace foxhunt::market
