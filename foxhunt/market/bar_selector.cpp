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

template <class T>
const T* BarSelector::next_of(Reader& reader) {
  if (reader_ != &reader) {
    known_.clear();
    reader_ = &reader;
  }
  while (const Record* record = reader.next()) {
    ++memory_.counters.records;
    const T* meant = std::get_if<T>(record);
    if (meant == nullptr) {
      ++memory_.counters.other_type;
    } else if (take(reader, meant->instrument, index_time(*record))) {
      return meant;
    }
  }
  reader_ = nullptr;  // another reader may be born at this address
  return nullptr;
}
template const Bar* BarSelector::next_of(Reader& reader);
template const OrderEvent* BarSelector::next_of(Reader& reader);

bool BarSelector::take(const Reader& reader, const InstrumentKey& instrument, UnixNanos at) {
  const Known& known = look_up(reader, instrument, at);
  switch (known.verdict) {
    case Verdict::kOtherProduct:
      ++memory_.counters.other_product;
      return false;
    case Verdict::kOtherContract:
      ++memory_.counters.other_contract;
      return false;
    case Verdict::kUnmapped:
      ++memory_.counters.unmapped;
      return false;
    case Verdict::kSelected:
      break;
  }
  ++memory_.counters.selected;
  refuse_mixed(instrument, at, known.symbol);
  memory_.symbol = known.symbol;
  memory_.last = {.instrument = instrument, .start = at};
  return true;
}

const BarSelector::Known& BarSelector::look_up(const Reader& reader,
                                               const InstrumentKey& instrument, UnixNanos at) {
  const std::uint64_t id =
      (std::uint64_t{instrument.publisher_id} << 32U) | instrument.instrument_id;
  const std::int64_t day = std::chrono::floor<std::chrono::days>(at).time_since_epoch().count();
  const auto [place, is_new] = known_.try_emplace({id, day});
  if (is_new) place->second = judge(reader, instrument, at);
  return place->second;
}

BarSelector::Known BarSelector::judge(const Reader& reader, const InstrumentKey& instrument,
                                      UnixNanos at) const {
  const StreamInfo& info = reader.info();
  std::string symbol = reader.symbol_of(instrument, at);
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

void BarSelector::refuse_mixed(const InstrumentKey& instrument, UnixNanos at,
                               const std::string& symbol) {
  if (!memory_.last || instrument == memory_.last->instrument) return;
  const auto open_of = [this](UnixNanos start) {
    const auto session = calendar_.session_at(start);
    return session ? session->open : kNullTime;
  };
  const UnixNanos open = open_of(at);
  if (open != memory_.left_open) {
    memory_.left.clear();
    memory_.left_open = open;
  }
  if (at == memory_.last->start ||
      std::ranges::find(memory_.left, instrument) != memory_.left.end()) {
    const auto name = [](const std::string& text, const InstrumentKey& key) {
      return text.empty() ? fmt::format("instrument {}", key.instrument_id) : text;
    };
    throw DataError(fmt::format(
        "[data] {}: contracts of {} are mixed, {} and {} trade side by side; choose one by its "
        "symbol or give a file that holds one contract at a time",
        to_string(at), filter_.product, name(memory_.symbol, memory_.last->instrument),
        name(symbol, instrument)));
  }
  if (open_of(memory_.last->start) == open) memory_.left.push_back(memory_.last->instrument);
}

}  // namespace foxhunt::market
