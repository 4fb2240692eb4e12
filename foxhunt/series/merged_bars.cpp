#include "foxhunt/series/merged_bars.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/market/contract.h"

namespace foxhunt::series {

MergedBars::MergedBars(Readers readers, std::vector<std::string> names, std::string product,
                       Conflict conflict)
    : product_(std::move(product)), conflict_(conflict) {
  for (std::size_t i = 0; i < readers.size(); ++i)
    sources_.push_back({.reader = std::move(readers[i]), .name = std::move(names[i])});
  for (Source& source : sources_) advance(source);
}

const ContractBar* MergedBars::next() {
  for (;;) {
    Source* first = nullptr;
    for (Source& source : sources_) {
      if (!source.head) continue;
      if (first == nullptr || std::tie(source.head->bar.start, source.head->symbol) <
                                  std::tie(first->head->bar.start, first->head->symbol))
        first = &source;
    }
    if (first == nullptr) return nullptr;
    current_ = *first->head;
    const bool known = is_duplicate(*first, current_);
    advance(*first);
    if (known) continue;
    last_[current_.symbol] = current_.bar;
    ++counters_.bars;
    return &current_;
  }
}

bool MergedBars::is_duplicate(const Source& source, const ContractBar& next) {
  const auto known = last_.find(next.symbol);
  if (known == last_.end() || known->second.start != next.bar.start) return false;
  const market::Bar& a = known->second;
  const market::Bar& b = next.bar;
  const bool same = std::tie(a.span, a.open, a.high, a.low, a.close, a.volume) ==
                    std::tie(b.span, b.open, b.high, b.low, b.close, b.volume);
  if (!same && conflict_ == Conflict::kRefuse) {
    throw DataError(
        fmt::format("{}: {} at {} is there twice with different values (volume {} and {}); keep "
                    "one, or take the first file's",
                    source.name, next.symbol, to_string(b.start), a.volume, b.volume));
  }
  ++counters_.duplicates;
  return true;
}

void MergedBars::advance(Source& source) {
  const UnixNanos last = source.head ? source.head->bar.start : kNullTime;
  source.head.reset();
  while (const market::Record* record = source.reader->next()) {
    ++counters_.records;
    const auto* bar = std::get_if<market::Bar>(record);
    if (bar == nullptr) {
      ++counters_.not_bars;
      continue;
    }
    const std::string& symbol = symbol_of(source, *bar);
    if (symbol.empty()) {
      ++counters_.unmapped;
    } else if (market::product_of_symbol(symbol) != product_) {
      ++counters_.other_product;
    } else if (bar->start < last) {
      throw DataError(
          fmt::format("{}: {} at {} stands behind a bar of {}; files are in the order "
                      "of time",
                      source.name, symbol, to_string(bar->start), to_string(last)));
    } else {
      source.head = ContractBar{symbol, *bar};
      return;
    }
  }
  counters_.truncated_files += source.reader->stats().truncated ? 1 : 0;
}

const std::string& MergedBars::symbol_of(Source& source, const market::Bar& bar) {
  const std::int64_t day =
      std::chrono::floor<std::chrono::days>(bar.start).time_since_epoch().count();
  if (day != source.day) {
    source.symbols.clear();
    source.day = day;
  }
  const std::uint64_t id =
      (std::uint64_t{bar.instrument.publisher_id} << 32U) | bar.instrument.instrument_id;
  const auto [place, is_new] = source.symbols.try_emplace(id);
  if (is_new) {
    place->second = source.reader->symbol_of(bar.instrument, bar.start);
    const auto& info = source.reader->info();
    if (place->second.empty() && info.mappings.empty() && info.symbols.size() == 1)
      place->second = info.symbols[0];
  }
  return place->second;
}

}  // namespace foxhunt::series
