#pragma once
// Raw records -> the values of record.h.

#include <chrono>
#include <optional>
#include <string_view>

#include "foxhunt/market/dbn/raw_record.h"
#include "foxhunt/market/dbn/upgrade.h"
#include "foxhunt/market/record.h"

namespace foxhunt::market::dbn {

class ValueDecoder {
 public:
  /// `schema` of the file ("ohlcv-1h", "mixed") tells the interval of bars of the old type 0x11.
  explicit ValueDecoder(std::string_view schema);

  /// Undefined values become nulls; times after the year 2262 do too, sizes become 0, sides that
  /// do not exist kNone. False, and `value` as it was, for types that have no value: those this
  /// code does not know, and old bars where the schema names no interval.
  /// Cost  one copy; text is allocated where it is longer than a std::string holds in place.
  bool decode(const RawRecord& record, Record& value);

 private:
  bool decode_newest(const RawRecord& record, Record& value) const;

  std::optional<std::chrono::nanoseconds> schema_span_;
  Upgrader upgrade_;
};

}  // namespace foxhunt::market::dbn
