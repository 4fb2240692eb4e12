#pragma once
// Bars of any Reader into a DBN version 3 file.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "foxhunt/market/reader.h"

namespace foxhunt::market {

struct ConvertOptions {
  /// Whose data it is, for the metadata ("GLBX.MDP3"); "" keeps what the input says.
  std::string dataset{};
  /// Also convert an input that is cut short, up to where it ends.
  bool allow_truncated = false;
};

struct ConvertReport {
  std::int64_t bars = 0;
  std::string schema{};  ///< "ohlcv-1m"
  std::string dataset{};
  UnixNanos first = kNullTime;  ///< start of the first bar
  UnixNanos last = kNullTime;   ///< start of the last bar
  std::int64_t symbols = 0;
  std::map<int, std::int64_t> skipped_by_rtype{};  ///< of the input: other types than bars
  bool truncated = false;
  std::uintmax_t bytes = 0;  ///< of the file written
};

/// Writes all bars of `reader` to `out`, zstd when its name ends in ".zst", else plain. Symbols,
/// ids and their days come from the input, which must say them. The same input gives the same
/// bytes.
///
/// A symbol map stands in front of the records, but a CSV file is known only at its end: the bars
/// wait in a plain DBN file beside `out`, which is gone afterwards. Memory is flat.
///
/// Errors  DataError: no bars; a record that is no bar; two lengths of bar, or one that DBN does
/// not have (1 s, 1 min,
///         1 h, 1 d); bars out of order; no symbol; an input cut short (unless allowed); no
///         dataset. IoError. What the reader throws. In every case `out` is as it was.
ConvertReport convert_bars(Reader& reader, const std::filesystem::path& out,
                           const ConvertOptions& options = {});

}  // namespace foxhunt::market
