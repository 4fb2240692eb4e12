#include "foxhunt/columns/symbol_table.h"

#include <chrono>

namespace foxhunt::columns {

SymbolTable::SymbolTable(const market::StreamInfo& info) : dataset_(info.dataset) {
  map_.add(info);
}

std::string_view SymbolTable::find(std::uint32_t instrument_id, std::uint64_t index_time) {
  constexpr std::uint64_t kDay = 86'400'000'000'000;
  const auto day = static_cast<std::int64_t>(index_time / kDay);
  if (day != last_day_ || instrument_id != last_id_) {
    last_day_ = day;
    last_id_ = instrument_id;
    const Date date{std::chrono::sys_days{std::chrono::days{static_cast<int>(day)}}};
    last_ = map_.symbol(dataset_, date, instrument_id);
  }
  return last_;
}

}  // namespace foxhunt::columns
