#pragma once
// A record as a row of CSV in Databento's column order, by the one table of fields.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/columns/digits.h"
#include "foxhunt/market/dbn/fields.h"

namespace foxhunt::columns {

struct CsvStyle {
  /// Prices with nine decimals ("3720.250000000"), else their integers.
  bool decimal_prices = false;
  /// Times as 2020-12-28T13:00:00.006136329Z, else nanoseconds since 1970.
  bool iso_times = false;
  bool with_ts_out = false;
  bool with_symbol = false;
};

/// The fields of a version 3 record in the order of Databento's CSV: index time, header, then what
/// this type has. Empty for a type that this code does not know.
std::vector<market::dbn::Field> csv_columns(int rtype);

class CsvRow {
 public:
  /// Errors  DataError: a type that this code does not know.
  CsvRow(int rtype, const CsvStyle& style);

  /// With the newline. The symbol comes last, behind ts_out.
  std::string header() const;
  std::size_t most() const { return most_; }  ///< bytes of a row without its symbol

  /// Writes the row with its newline at `out`, where most() bytes and twice those of the symbol
  /// are free, and answers its end. Undefined prices and times are empty where they are written as
  /// decimals or dates; a letter that is no printable one is written as a number ("0x1F"), NUL as
  /// nothing. `ts_out` and `symbol` are used where the style has them.
  char* write(const std::byte* record, std::uint64_t ts_out, std::string_view symbol, char* out);

 private:
  enum class Op : std::uint8_t {
    kU8,
    kU16,
    kU32,
    kU64,
    kI8,
    kI16,
    kI32,
    kI64,
    kPrice,
    kTime,
    kIso,
    kChar,
    kText
  };
  struct Step {
    Op op;
    std::uint16_t at;
    std::uint16_t size;
  };

  CsvStyle style_;
  std::vector<market::dbn::Field> columns_;
  std::vector<Step> steps_;
  std::size_t most_ = 0;
  TimeText index_time_;
  TimeText other_time_;
};

/// `text` with quotes where RFC 4180 asks for them; at most twice its bytes and two more.
char* write_csv_text(char* out, std::string_view text);

}  // namespace foxhunt::columns
