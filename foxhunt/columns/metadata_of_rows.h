#pragma once
// What DBN says in front of its records, made from records that come without: schema, first time,
// and which symbol had which id on which UTC days.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "foxhunt/market/dbn/raw_record.h"
#include "foxhunt/market/dbn_metadata.h"

namespace foxhunt::columns {

class MetadataOfRows {
 public:
  void add(const market::dbn::RawRecord& record);
  /// "" is no symbol.
  void add(const market::dbn::RawRecord& record, std::string_view symbol);

  /// stype_in raw_symbol, stype_out instrument_id; days without a record lie in no interval.
  /// Errors  DataError: two ids for one symbol on one day.
  market::DbnMetadata metadata() const;

 private:
  std::uint64_t start_ = ~std::uint64_t{0};
  int schema_ = -1;  ///< -1: none yet; 0xFFFF: several
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, std::map<std::int64_t, std::uint32_t>> days_;
  std::string last_symbol_;
  std::int64_t last_day_ = -1;
  std::uint32_t last_id_ = 0;
};

/// The schema of a record type, 0xFFFF for those that have none. (0x01 is mbp-1; tbbo has the
/// same.)
std::uint16_t schema_of_rtype(int rtype);
/// The record type of a schema by its name ("tbbo", "ohlcv-1m"), -1 for one that is not known.
int rtype_of_schema(std::string_view schema);

}  // namespace foxhunt::columns
