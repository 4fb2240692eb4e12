#include "foxhunt/columns/metadata_of_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/record_io.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::columns {
namespace {

constexpr std::uint64_t kDay = 86'400'000'000'000;
constexpr std::uint16_t kMixed = 0xFFFF;
constexpr std::uint8_t kRawSymbol = 1;
constexpr std::uint8_t kInstrumentId = 0;
constexpr std::uint16_t kSchemas = 20;

std::uint32_t yyyymmdd(std::int64_t day) {
  const Date date{std::chrono::sys_days{std::chrono::days{day}}};
  return static_cast<std::uint32_t>(static_cast<int>(date.year())) * 10'000 +
         static_cast<unsigned>(date.month()) * 100 + static_cast<unsigned>(date.day());
}

}  // namespace

std::uint16_t schema_of_rtype(int rtype) {
  const std::string_view name = market::rtype_name(rtype);
  for (std::uint16_t schema = 0; schema < kSchemas; ++schema) {
    if (market::schema_name(schema) == name) return schema;
  }
  return kMixed;
}

int rtype_of_schema(std::string_view schema) {
  if (schema == "tbbo") schema = "mbp-1";
  for (int rtype = 0; rtype < 256; ++rtype) {
    if (market::rtype_name(rtype) == schema) return rtype;
  }
  return -1;
}

void MetadataOfRows::add(const market::dbn::RawRecord& record) {
  if (schema_ == -1) {
    schema_ = schema_of_rtype(record.rtype);
    start_ = index_time(record);
  } else if (schema_ != schema_of_rtype(record.rtype)) {
    schema_ = kMixed;
  }
}

void MetadataOfRows::add(const market::dbn::RawRecord& record, std::string_view symbol) {
  add(record);
  std::uint32_t id = 0;
  std::memcpy(&id, record.bytes.data() + 4, sizeof id);
  const auto day = static_cast<std::int64_t>(index_time(record) / kDay);
  if (symbol.empty() || (id == last_id_ && day == last_day_ && symbol == last_symbol_)) return;
  last_id_ = id;
  last_day_ = day;
  last_symbol_ = symbol;
  auto [at, is_new] = days_.try_emplace(last_symbol_);
  if (is_new) symbols_.push_back(last_symbol_);
  const auto [known, added] = at->second.try_emplace(day, id);
  if (!added && known->second != id) {
    throw DataError(fmt::format("[csv] the symbol '{}' has the ids {} and {} on {}", symbol,
                                known->second, id, yyyymmdd(day)));
  }
}

market::DbnMetadata MetadataOfRows::metadata() const {
  market::DbnMetadata metadata;
  metadata.schema = schema_ == -1 ? kMixed : static_cast<std::uint16_t>(schema_);
  metadata.start = start_;
  metadata.stype_in = kRawSymbol;
  metadata.stype_out = kInstrumentId;
  metadata.symbols = symbols_;
  for (const std::string& symbol : symbols_) {
    market::DbnMetadata::Mapping mapping{symbol, {}};
    std::int64_t expected = -1;
    for (const auto& [day, id] : days_.at(symbol)) {
      const std::string text = fmt::format("{}", id);
      if (day == expected && mapping.intervals.back().symbol == text) {
        mapping.intervals.back().end = yyyymmdd(day + 1);
      } else {
        mapping.intervals.push_back({yyyymmdd(day), yyyymmdd(day + 1), text});
      }
      expected = day + 1;
    }
    metadata.mappings.push_back(std::move(mapping));
  }
  return metadata;
}

}  // namespace foxhunt::columns
