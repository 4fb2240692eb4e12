#include "foxhunt/series/tick_source.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/market/contract.h"

namespace foxhunt::series {

using market::InstrumentKey;
using market::TopOfBook;
using market::Trade;

std::optional<Tick> trade_of(const market::Record& record) {
  if (const auto* trade = std::get_if<Trade>(&record)) {
    if (trade->size == 0) return std::nullopt;
    return Tick{trade->ts_event, trade->ts_recv, trade->price, trade->size, trade->side};
  }
  if (const auto* quote = std::get_if<TopOfBook>(&record)) {
    if (quote->action != 'T' || quote->size == 0) return std::nullopt;
    return Tick{quote->ts_event, quote->ts_recv, quote->price, quote->size, quote->side};
  }
  if (const auto* event = std::get_if<market::OrderEvent>(&record)) {
    if (event->action != 'T' || event->size == 0) return std::nullopt;
    return Tick{event->ts_event, event->ts_recv, event->price, event->size, event->side};
  }
  return std::nullopt;
}

TickSource::TickSource(market::Reader& reader, TickFilter filter)
    : reader_(reader), filter_(std::move(filter)) {
  if (!filter_.symbol.empty() && market::product_of_symbol(filter_.symbol) != filter_.product) {
    throw ConfigError(
        fmt::format("[bars] {} is no contract of {}", filter_.symbol, filter_.product));
  }
  symbol_ = filter_.symbol;
}

std::optional<Tick> TickSource::next() {
  while (const market::Record* record = reader_.next()) {
    ++counters_.records;
    const auto* quote = std::get_if<TopOfBook>(record);
    const bool trades = filter_.of == TickOf::kTrades;
    const bool kind = trades ? quote != nullptr || std::holds_alternative<Trade>(*record) ||
                                   std::holds_alternative<market::OrderEvent>(*record)
                             : quote != nullptr;
    if (!kind) {
      ++counters_.other_kind;
      continue;
    }
    const InstrumentKey instrument = market::instrument_of(*record);
    if (!is_meant(instrument, market::index_time(*record))) continue;
    std::optional<Tick> tick;
    if (trades) {
      tick = trade_of(*record);
      const bool none = !tick && !std::holds_alternative<Trade>(*record);
      if (!tick) ++(none ? counters_.other_kind : counters_.empty);
    } else {
      tick = mid_of(*quote);
    }
    if (!tick) continue;
    ++counters_.ticks;
    instrument_ = instrument;
    any_ = true;
    return tick;
  }
  return std::nullopt;
}

bool TickSource::is_meant(const InstrumentKey& instrument, UnixNanos at) {
  const std::int64_t day = std::chrono::floor<std::chrono::days>(at).time_since_epoch().count();
  if (known_ != instrument || known_day_ != day) {
    known_ = instrument;
    known_day_ = day;
    known_meant_ = true;
    const std::string symbol = reader_.symbol_of(instrument, at);
    if (reader_.info().mappings.empty()) {
      if (filter_.symbol.empty() && any_ && instrument != instrument_) {
        throw DataError(fmt::format(
            "[bars] record {}: instrument {} follows {}, and the file names neither; give it one "
            "contract, or symbols",
            counters_.records, instrument.instrument_id, instrument_.instrument_id));
      }
    } else if (symbol.empty() || market::product_of_symbol(symbol) != filter_.product) {
      known_meant_ = false;
    } else if (filter_.symbol.empty() && !symbol_.empty() && symbol != symbol_) {
      throw DataError(
          fmt::format("[bars] record {}: {} and {} are both of {}; bars are of one contract: name "
                      "it with --symbol",
                      counters_.records, symbol_, symbol, filter_.product));
    } else if (filter_.symbol.empty()) {
      symbol_ = symbol;
    } else {
      known_meant_ = symbol == symbol_;
    }
    known_unmapped_ = symbol.empty();
  }
  if (!known_meant_) ++(known_unmapped_ ? counters_.unmapped : counters_.other_contract);
  return known_meant_;
}

std::optional<Tick> TickSource::mid_of(const TopOfBook& quote) {
  // Databento sets kLast on the last record of an event; before it the book may be half changed.
  if ((quote.flags & market::flag::kLast) == 0) {
    ++counters_.inside_event;
    return std::nullopt;
  }
  const auto& level = quote.level;
  if (level.bid.is_null() || level.ask.is_null()) {
    ++counters_.empty;
    return std::nullopt;
  }
  if (level.bid >= level.ask) {
    ++counters_.crossed;
    return std::nullopt;
  }
  const Price mid{std::midpoint(level.bid.nano, level.ask.nano)};
  if (mid == last_mid_) {
    ++counters_.unchanged;
    return std::nullopt;
  }
  last_mid_ = mid;
  return Tick{quote.ts_event, quote.ts_recv, mid, 0, market::Side::kNone};
}

}  // namespace foxhunt::series
