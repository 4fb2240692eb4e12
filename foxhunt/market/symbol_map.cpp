#include "foxhunt/market/symbol_map.h"

#include <algorithm>
#include <iterator>

namespace foxhunt::market {
namespace {

std::int32_t days_of(Date date) {
  return static_cast<std::int32_t>(std::chrono::sys_days{date}.time_since_epoch().count());
}

}  // namespace

std::size_t SymbolMap::dataset_index(std::string_view dataset) {
  const auto at = std::ranges::find(datasets_, dataset);
  if (at != datasets_.end()) return static_cast<std::size_t>(at - datasets_.begin());
  datasets_.emplace_back(dataset);
  return datasets_.size() - 1;
}

std::string_view SymbolMap::kept(const std::string& symbol) {
  return *symbols_.insert(symbol).first;
}

void SymbolMap::add(const StreamInfo& info) {
  for (const SymbolInterval& interval : info.mappings) add(info.dataset, interval);
  partial_.insert(partial_.end(), info.partial.begin(), info.partial.end());
  not_found_.insert(not_found_.end(), info.not_found.begin(), info.not_found.end());
}

void SymbolMap::add(std::string_view dataset, const SymbolInterval& interval) {
  const std::size_t index = dataset_index(dataset);
  const std::uint32_t id = interval.instrument_id;
  const std::string_view symbol = kept(interval.raw_symbol);
  const Days end = days_of(interval.end);
  Days from = days_of(interval.start);
  while (from < end) {
    // Behind what is known there already …
    auto next = spans_.upper_bound({index, id, from});
    if (next != spans_.begin()) {
      const auto& [key, span] = *std::prev(next);
      if (std::get<0>(key) == index && std::get<1>(key) == id) from = std::max(from, span.end);
    }
    // … up to what is known next.
    Days until = end;
    if (next != spans_.end() && std::get<0>(next->first) == index &&
        std::get<1>(next->first) == id) {
      until = std::min(end, std::get<2>(next->first));
    }
    if (from < until) spans_.emplace(Key{index, id, from}, Span{until, symbol});
    from = std::max(from, until);
  }
}

void SymbolMap::replace(std::string_view dataset, const SymbolInterval& interval) {
  const std::size_t index = dataset_index(dataset);
  const std::uint32_t id = interval.instrument_id;
  const Days start = days_of(interval.start);
  const Days end = days_of(interval.end);
  if (start >= end) return;
  auto at = spans_.lower_bound({index, id, start});
  if (at != spans_.begin()) {
    auto& [key, span] = *std::prev(at);
    if (std::get<0>(key) == index && std::get<1>(key) == id && span.end > start) {
      if (span.end > end) spans_.emplace(Key{index, id, end}, span);
      span.end = start;
    }
  }
  at = spans_.lower_bound({index, id, start});
  while (at != spans_.end() && at->first < Key{index, id, end}) {
    if (at->second.end > end) spans_.emplace(Key{index, id, end}, at->second);
    at = spans_.erase(at);
  }
  spans_.emplace(Key{index, id, start}, Span{end, kept(interval.raw_symbol)});
}

std::string_view SymbolMap::symbol(std::string_view dataset, Date utc_date,
                                   std::uint32_t id) const {
  const auto known = std::ranges::find(datasets_, dataset);
  if (known == datasets_.end()) return "";
  const auto index = static_cast<std::size_t>(known - datasets_.begin());
  const Days day = days_of(utc_date);
  const auto next = spans_.upper_bound({index, id, day});
  if (next == spans_.begin()) return "";
  const auto& [key, span] = *std::prev(next);
  const bool covers = std::get<0>(key) == index && std::get<1>(key) == id && day < span.end;
  return covers ? span.symbol : "";
}

std::string_view SymbolMap::symbol(std::string_view dataset, UnixNanos at, std::uint32_t id) const {
  return is_null(at) ? "" : symbol(dataset, utc_date(at), id);
}

}  // namespace foxhunt::market
