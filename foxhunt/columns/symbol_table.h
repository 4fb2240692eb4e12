#pragma once
// Which symbol an instrument was, by the metadata of one file: market/symbol_map.h for one record
// after the other.

#include <cstdint>
#include <string>
#include <string_view>

#include "foxhunt/market/reader.h"
#include "foxhunt/market/symbol_map.h"

namespace foxhunt::columns {

class SymbolTable {
 public:
  explicit SymbolTable(const market::StreamInfo& info);

  /// "" where the file does not say. Of several symbols of one id the one listed first.
  /// Cost  O(1) for neighbours of one instrument and day, else that of the map.
  /// Lifetime  that of the table.
  std::string_view find(std::uint32_t instrument_id, std::uint64_t index_time);

 private:
  std::string dataset_;
  market::SymbolMap map_;
  std::uint32_t last_id_ = 0;
  std::int64_t last_day_ = -1;
  std::string_view last_;
};

}  // namespace foxhunt::columns
