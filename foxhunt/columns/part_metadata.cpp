#include "foxhunt/columns/part_metadata.h"

#include <algorithm>
#include <chrono>

#include "foxhunt/base/time.h"
#include "foxhunt/columns/metadata_of_rows.h"

namespace foxhunt::columns {
namespace {

using market::DbnMetadata;

constexpr std::uint64_t kDay = 86'400'000'000'000;
constexpr std::uint8_t kInstrumentId = 0;

void narrow_to_day(DbnMetadata& part, const std::string& key) {
  const auto day = std::chrono::sys_days{parse_date(key)}.time_since_epoch().count();
  const std::uint64_t start = static_cast<std::uint64_t>(day) * kDay;
  // Records may lie outside the query's range (a snapshot, a bar's event): it never turns round.
  part.start = std::max(part.start, start);
  if (part.start >= start + kDay) part.start = start;
  const bool open = part.end == 0;
  part.end = open ? start + kDay : std::min(part.end, start + kDay);
  if (part.end <= start) part.end = start + kDay;
}

/// Keeps the mappings of which either side is `key`.
void narrow_to_symbol(DbnMetadata& part, const std::string& key) {
  const bool inverse = part.stype_in == kInstrumentId && part.stype_out != kInstrumentId;
  std::erase_if(part.mappings, [&](DbnMetadata::Mapping& mapping) {
    if (mapping.raw_symbol == key) return false;
    std::erase_if(mapping.intervals,
                  [&](const DbnMetadata::Interval& i) { return i.symbol != key; });
    return mapping.intervals.empty();
  });
  const auto foreign = [&](const std::string& symbol) {
    if (symbol == key) return false;
    return !std::ranges::any_of(part.mappings, [&](const DbnMetadata::Mapping& mapping) {
      return mapping.raw_symbol == symbol;
    });
  };
  std::erase_if(part.symbols, foreign);
  std::erase_if(part.partial, foreign);
  std::erase_if(part.not_found, foreign);
  if (inverse || !part.symbols.empty()) return;
  // A continuous or parent symbol was asked for, and stands in the mappings only.
  for (const DbnMetadata::Mapping& mapping : part.mappings)
    part.symbols.push_back(mapping.raw_symbol);
}

}  // namespace

DbnMetadata part_metadata(const DbnMetadata& whole, SplitBy by, const std::string& key) {
  DbnMetadata part = whole;
  switch (by) {
    case SplitBy::kDay:
      narrow_to_day(part, key);
      break;
    case SplitBy::kSymbol:
    case SplitBy::kInstrument:
      narrow_to_symbol(part, key);
      break;
    case SplitBy::kSchema:
      if (const int rtype = rtype_of_schema(key); rtype >= 0 && whole.schema == 0xFFFF) {
        part.schema = schema_of_rtype(rtype);
      }
      break;
  }
  return part;
}

}  // namespace foxhunt::columns
