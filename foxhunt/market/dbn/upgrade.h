#pragma once
// Records of versions 1 and 2 as version 3 has them, by the table of fields.
//
// Only definitions, statistics, errors, system messages and symbol mappings differ between the
// versions. A field keeps its value under its name; a number that grew keeps "undefined"; what the
// older version lacks gets what the official decoder gives it (legs undefined, types and codes 255,
// else 0). Left out is what version 3 has no field for: of definitions the trading reference price
// and date, the trading status and the settlement price type.

#include <array>
#include <cstddef>

#include "foxhunt/market/dbn/raw_record.h"

namespace foxhunt::market::dbn {

class Upgrader {
 public:
  /// The record in version 3, ts_out and offset as they were: the same bytes where its layout is
  /// the same, else bytes of this object (what a newer writer appended to an old layout stays
  /// behind). Lifetime  until the next call, and no longer than `record`.
  RawRecord operator()(const RawRecord& record);

 private:
  static constexpr std::size_t kLongest = 520;
  alignas(8) std::array<std::byte, kLongest> bytes_;
};

}  // namespace foxhunt::market::dbn
