#pragma once
// A DBN file into several: by UTC day, by symbol, by instrument, by schema.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "foxhunt/columns/record_io.h"

namespace foxhunt::columns {

enum class SplitBy { kDay, kSymbol, kInstrument, kSchema };

struct SplitOptions {
  SplitBy by = SplitBy::kDay;
  /// Only these ("2020-12-28", "ESH1", "5482", "trades"); empty: all.
  std::vector<std::string> only{};
  int level = 3;  ///< of zstd; 3 takes about 4 MB for a file that is open, 9 about 30
  bool compress = true;
  bool overwrite = false;
  bool allow_truncated = false;
  /// Files that are open at once; with more parts than that the input is read again.
  std::size_t most_open = 32;
};

struct SplitPart {
  std::string key;
  std::filesystem::path file;
  std::int64_t records = 0;
};

struct SplitReport {
  std::vector<SplitPart> parts{};  ///< in the order of their first record
  std::int64_t records = 0;        ///< in parts
  std::int64_t left_out = 0;       ///< by `only`
  bool truncated = false;
};

/// Writes FOLDER/STEM.KEY.dbn[.zst] in version 3, STEM being the input's name without .dbn and
/// .zst. Days are UTC dates of the index time; a symbol is the map's for (date, id), or "id-5482"
/// where the map is silent. A part's metadata keeps what concerns it: by day the range, by symbol
/// or instrument its own map, by schema the schema.
/// Errors  DataError: no record matches, a key of `only` that no record has, an input cut short
///         (unless allowed), a part that exists already (unless overwrite); FormatError, IoError.
///         No part is left behind by an input that is refused at its first reading.
SplitReport split_file(const std::filesystem::path& input, const std::filesystem::path& folder,
                       const SplitOptions& options,
                       const std::function<void(std::int64_t)>& progress = {});

}  // namespace foxhunt::columns
