#pragma once
// Symbols of a CSV file, as they come by row: gives ids where the file has none, and keeps the
// symbol map of a StreamInfo up to date.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "foxhunt/market/reader.h"

namespace foxhunt::market {

class CsvSymbols {
 public:
  /// The id of `symbol`, for files without ids: 1, 2, 3 … in the order of appearance.
  std::uint32_t id_of(std::string_view symbol);

  /// Notes that `id` was `symbol` on the UTC date of `t`, in `info`'s symbols and mappings. Gives
  /// the rule that this breaks (one id, two symbols, one day), or "".
  std::string note(StreamInfo& info, std::uint32_t id, std::string_view symbol, UnixNanos t);

 private:
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::map<std::uint32_t, std::size_t> current_;  ///< id -> its newest entry of info.mappings
  // The last row, since most rows repeat it.
  std::uint32_t last_id_ = 0;
  std::string last_symbol_;
  std::chrono::sys_days last_day_{};
};

}  // namespace foxhunt::market
