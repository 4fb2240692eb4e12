#include "foxhunt/columns/metadata_union.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt::columns {
namespace {

using market::DbnMetadata;
using Interval = DbnMetadata::Interval;

constexpr std::uint64_t kOpen = ~std::uint64_t{0};

void append_new(const std::vector<std::string>& from, std::vector<std::string>& into,
                std::set<std::string>& seen) {
  for (const std::string& text : from) {
    if (seen.insert(text).second) into.push_back(text);
  }
}

[[noreturn]] void refuse(const NamedMetadata& first, const NamedMetadata& other,
                         std::string_view field, std::string_view a, std::string_view b) {
  throw DataError(fmt::format("{} has {} '{}', but {} has '{}'; one file holds one", first.name,
                              field, a, other.name, b));
}

struct Source {
  Interval interval;
  const std::string* file;
};

/// By date; what touches and means the same becomes one, two meanings of one day are refused.
std::vector<Interval> join(const std::string& symbol, std::vector<Source> all) {
  std::ranges::stable_sort(all, {}, [](const Source& s) { return s.interval.start; });
  std::vector<Interval> joined;
  const std::string* last_file = nullptr;
  for (const Source& next : all) {
    if (!joined.empty() && next.interval.start < joined.back().end &&
        next.interval.symbol != joined.back().symbol) {
      throw DataError(fmt::format("on {} the symbol '{}' is '{}' in {}, but '{}' in {}",
                                  next.interval.start, symbol, joined.back().symbol, *last_file,
                                  next.interval.symbol, *next.file));
    }
    if (!joined.empty() && next.interval.start <= joined.back().end &&
        next.interval.symbol == joined.back().symbol) {
      joined.back().end = std::max(joined.back().end, next.interval.end);
    } else {
      joined.push_back(next.interval);
    }
    last_file = next.file;
  }
  return joined;
}

std::vector<DbnMetadata::Mapping> join_mappings(std::span<const NamedMetadata> files) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<Source>> by_symbol;
  for (const NamedMetadata& file : files) {
    for (const DbnMetadata::Mapping& mapping : file.metadata.mappings) {
      auto [at, is_new] = by_symbol.try_emplace(mapping.raw_symbol);
      if (is_new) order.push_back(mapping.raw_symbol);
      for (const Interval& interval : mapping.intervals) {
        at->second.push_back({interval, &file.name});
      }
    }
  }
  std::vector<DbnMetadata::Mapping> mappings;
  for (const std::string& symbol : order) {
    mappings.push_back({symbol, join(symbol, std::move(by_symbol.at(symbol)))});
  }
  return mappings;
}

}  // namespace

DbnMetadata unite(std::span<const NamedMetadata> files) {
  DbnMetadata all = files.front().metadata;
  all.version = market::kNewestDbnVersion;
  std::set<std::string> symbols(all.symbols.begin(), all.symbols.end());
  std::set<std::string> partial(all.partial.begin(), all.partial.end());
  std::set<std::string> not_found(all.not_found.begin(), all.not_found.end());
  for (const NamedMetadata& file : files.subspan(1)) {
    const DbnMetadata& one = file.metadata;
    if (one.dataset != all.dataset) {
      refuse(files.front(), file, "the dataset", all.dataset, one.dataset);
    }
    if (one.ts_out != all.ts_out) {
      refuse(files.front(), file, "ts_out", all.ts_out ? "1" : "0", one.ts_out ? "1" : "0");
    }
    if (one.stype_out != all.stype_out) {
      refuse(files.front(), file, "stype_out", market::stype_name(all.stype_out),
             market::stype_name(one.stype_out));
    }
    if (one.schema != all.schema) all.schema = 0xFFFF;
    if (one.stype_in != all.stype_in) all.stype_in = 0xFF;
    all.start = std::min(all.start, one.start);
    // Zero says none too.
    all.end = all.end == 0 || one.end == 0 ? kOpen : std::max(all.end, one.end);
    if (one.limit != all.limit) all.limit = 0;
    append_new(one.symbols, all.symbols, symbols);
    append_new(one.partial, all.partial, partial);
    append_new(one.not_found, all.not_found, not_found);
  }
  if (files.size() == 1) return all;
  all.mappings = join_mappings(files);
  std::erase_if(all.not_found, [&](const std::string& symbol) {
    const auto found = std::ranges::find(all.mappings, symbol, &DbnMetadata::Mapping::raw_symbol);
    if (found == all.mappings.end() || found->intervals.empty()) return false;
    if (partial.insert(symbol).second) all.partial.push_back(symbol);
    return true;
  });
  return all;
}

}  // namespace foxhunt::columns
