#include "foxhunt/doctor/series.h"

#include <fmt/format.h>

#include <utility>

#include "foxhunt/market/contract.h"

namespace foxhunt::doctor {

SeriesTable::SeriesTable(const market::Reader& reader, std::string product)
    : reader_(reader), product_(std::move(product)) {
  if (!product_.empty()) calendars_.at(product_);
}

Series& SeriesTable::of(const market::Record& record, UnixNanos t) {
  const market::InstrumentKey key = market::instrument_of(record);
  const auto day = is_null(t) ? std::chrono::sys_days{} : std::chrono::floor<std::chrono::days>(t);
  Known& known = known_[std::uint64_t{key.publisher_id} << 32 | key.instrument_id];
  if (known.series == nullptr || known.day != day) {
    known.day = day;
    std::string symbol = reader_.symbol_of(key, t);
    const auto& info = reader_.info();
    if (symbol.empty() && info.mappings.empty() && info.symbols.size() == 1)
      symbol = info.symbols[0];
    known.series =
        &named(symbol.empty() ? fmt::format("#{}", key.instrument_id) : symbol, key.publisher_id);
  }
  if (const auto* definition = std::get_if<market::Definition>(&record)) {
    const Price tick = definition->min_price_increment;
    if (!tick.is_null() && tick.nano > 0) known.series->tick = tick;
  }
  return *known.series;
}

bool SeriesTable::is_unmapped(const Series& series) const {
  return series.symbol.starts_with('#') && !reader_.info().mappings.empty();
}

Series& SeriesTable::named(const std::string& symbol, std::uint16_t publisher) {
  const auto [place, is_new] = by_symbol_.try_emplace({symbol, publisher}, nullptr);
  if (!is_new) return *place->second;
  auto series = std::make_unique<Series>();
  series->index = all_.size();
  series->symbol = symbol;
  series->is_spread =
      symbol.find('-') != std::string::npos && symbol.find('.') == std::string::npos;
  // "AAPL  250221C00250000", "EW1Z5 C5000", "UD:1V: VT 4321"
  series->is_option = symbol.find_first_of(" :") != std::string::npos;
  const std::string product = product_.empty() ? market::product_of_symbol(symbol) : product_;
  series->calendar = calendars_.find(product);
  if (series->calendar != nullptr) {
    series->product = product;
    if (!series->is_spread) series->tick = market::contract_for_product(product).tick;
  }
  place->second = series.get();
  all_.push_back(std::move(series));
  return *place->second;
}

}  // namespace foxhunt::doctor
