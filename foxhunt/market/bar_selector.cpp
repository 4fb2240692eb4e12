#include "foxhunt/market/bar_selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <variant>

#include "foxhunt/base/error.h"
#include "foxhunt/market/contract.h"

namespace foxhunt::market {

BarSelector::BarSelector(BarFilter filter)
    : filter_(std::move(filter)), calendar_(Calendar::for_product(filter_.product)) {}

const Bar* BarSelector::next(Reader& reader) {
  if (reader_ != &reader) {
    known_.clear();
    reader_ = &reader;
  }
  while (const Record* record = reader.next()) {
    ++memory_.counters.records;
    const auto* bar = std::get_if<Bar>(record);
    if (bar == nullptr) {
      ++memory_.counters.not_bars;
      continue;
    }
    const Known& known = look_up(reader, *bar);
    switch (known.verdict) {
      case Verdict::kOtherProduct:
        ++memory_.counters.other_product;
        continue;
      case Verdict::kOtherContract:
        ++memory_.counters.other_contract;
        continue;
      case Verdict::kUnmapped:
        ++memory_.counters.unmapped;
        continue;
      case Verdict::kSelected:
        break;
    }
    ++memory_.counters.selected;
    refuse_mixed(*bar, known.symbol);
    memory_.symbol = known.symbol;
    memory_.last = {.instrument = bar->instrument, .start = bar->start};
    return bar;
  }
  reader_ = nullptr;  // another reader may be born at this address
  return nullptr;
}

const BarSelector::Known& BarSelector::look_up(const Reader& reader, const Bar& bar) {
  const std::uint64_t id =
      (std::uint64_t{bar.instrument.publisher_id} << 32U) | bar.instrument.instrument_id;
  const std::int64_t day =
      std::chrono::floor<std::chrono::days>(bar.start).time_since_epoch().count();
  const auto [place, is_new] = known_.try_emplace({id, day});
  if (is_new) place->second = judge(reader, bar);
  return place->second;
}

BarSelector::Known BarSelector::judge(const Reader& reader, const Bar& bar) const {
  const StreamInfo& info = reader.info();
  std::string symbol = reader.symbol_of(bar.instrument, bar.start);
  if (symbol.empty() && info.mappings.empty() && info.symbols.size() == 1) symbol = info.symbols[0];
  if (symbol.empty()) {
    const bool file_is_silent = info.mappings.empty() && info.symbols.empty();
    const bool is_taken_on_trust = file_is_silent && filter_.symbol.empty();
    return {.verdict = is_taken_on_trust ? Verdict::kSelected : Verdict::kUnmapped, .symbol = ""};
  }
  if (symbol != filter_.product && product_of_symbol(symbol) != filter_.product) {
    return {.verdict = Verdict::kOtherProduct, .symbol = std::move(symbol)};
  }
  const bool is_meant = filter_.symbol.empty() || symbol == filter_.symbol;
  return {.verdict = is_meant ? Verdict::kSelected : Verdict::kOtherContract,
          .symbol = std::move(symbol)};
}

void BarSelector::refuse_mixed(const Bar& bar, const std::string& symbol) {
  if (!memory_.last || bar.instrument == memory_.last->instrument) return;
  const auto open_of = [this](UnixNanos start) {
    const auto session = calendar_.session_at(start);
    return session ? session->open : kNullTime;
  };
  const UnixNanos open = open_of(bar.start);
  if (open != memory_.left_open) {
    memory_.left.clear();
    memory_.left_open = open;
  }
  if (bar.start == memory_.last->start ||
      std::ranges::find(memory_.left, bar.instrument) != memory_.left.end()) {
    const auto name = [](const std::string& text, const InstrumentKey& key) {
      return text.empty() ? fmt::format("instrument {}", key.instrument_id) : text;
    };
    throw DataError(fmt::format(
        "[data] {}: contracts of {} are mixed, {} and {} trade side by side; choose one by its "
        "symbol or give a file that holds one contract at a time",
        to_string(bar.start), filter_.product, name(memory_.symbol, memory_.last->instrument),
        name(symbol, bar.instrument)));
  }
  if (open_of(memory_.last->start) == open) memory_.left.push_back(memory_.last->instrument);
}

}  // namespace foxhunt::market
