#include "foxhunt/market/csv_symbols.h"

#include <fmt/format.h>

#include <algorithm>

namespace foxhunt::market {

using std::chrono::days;
using std::chrono::sys_days;

std::uint32_t CsvSymbols::id_of(std::string_view symbol) {
  const auto found = ids_.find(symbol);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<std::uint32_t>(ids_.size() + 1);
  ids_.emplace(symbol, id);
  return id;
}

std::string CsvSymbols::note(StreamInfo& info, std::uint32_t id, std::string_view symbol,
                             UnixNanos t) {
  const sys_days day = std::chrono::floor<days>(t);
  if (!last_symbol_.empty() && id == last_id_ && day == last_day_ && symbol == last_symbol_)
    return {};

  const auto current = current_.find(id);
  SymbolInterval* interval = current == current_.end() ? nullptr : &info.mappings[current->second];
  if (interval != nullptr && interval->raw_symbol == symbol) {
    interval->start = std::min(interval->start, Date{day});
    interval->end = std::max(interval->end, Date{day + days{1}});
  } else {
    if (interval != nullptr && Date{day} < interval->end) {
      return fmt::format("is the symbol of instrument {}, which was '{}' on the same day", id,
                         interval->raw_symbol);
    }
    current_[id] = info.mappings.size();
    info.mappings.push_back({.raw_symbol = std::string(symbol),
                             .start = Date{day},
                             .end = Date{day + days{1}},
                             .instrument_id = id});
    if (std::ranges::find(info.symbols, symbol) == info.symbols.end())
      info.symbols.emplace_back(symbol);
  }
  last_id_ = id;
  last_symbol_ = symbol;
  last_day_ = day;
  return {};
}

}  // namespace foxhunt::market
