#pragma once
// Bytes of a record that no field of the table names: reserved ones, text behind a NUL, what a
// newer writer appended. Tables of columns cannot hold them.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "foxhunt/market/dbn/raw_record.h"

namespace foxhunt::columns {

class UnnamedBytes {
 public:
  /// Whether any of them is not zero. `record` is of version 3 and of a known type.
  bool has_any(const market::dbn::RawRecord& record);

 private:
  struct Range {
    std::uint16_t at;
    std::uint16_t size;
  };
  struct Kind {
    std::size_t size;  ///< as known
    std::vector<Range> reserved;
    std::vector<Range> texts;
  };
  const Kind& kind_of(int rtype);

  std::array<std::optional<Kind>, 256> kinds_;
};

}  // namespace foxhunt::columns
