#pragma once
// A row of CSV as the bytes of a DBN version 3 record: the way back from csv_row.h.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/market/csv_rows.h"
#include "foxhunt/market/dbn/fields.h"

namespace foxhunt::columns {

class CsvRecord {
 public:
  /// `rows` stands on the header line. `rtype`: what the rows are where the file has no column of
  /// that name; with the column, its first row says it.
  /// Errors  FormatError with file and line: no way to know the record type, a column that the type
  ///         has and the file lacks (all are named), one that stands twice; DataError: an unknown
  ///         record type.
  CsvRecord(market::CsvRows& rows, std::optional<int> rtype);

  /// The next row as a record, ts_out behind it where the file has that column; empty at the end.
  /// Errors    FormatError with file:line:column, column name, value and rule: another number of
  ///           fields, a value that does not fit its field, integers and decimals (or dates) mixed
  ///           in one column, a record type of another layout.
  /// Lifetime  until the next call.
  std::span<const std::byte> next();

  int rtype() const { return rtype_; }  ///< of the first record
  bool has_ts_out() const { return ts_out_.index != kAbsent; }
  bool has_symbol() const { return symbol_ != kAbsent; }
  /// Of the last record. Lifetime  until the next call of next().
  std::string_view symbol() const;
  /// Columns that no field of the record has: they are not converted.
  const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
  enum class Style : std::uint8_t { kUnknown, kInteger, kText };
  struct Column {
    market::dbn::Field field{};
    std::size_t index = kAbsent;
    Style style = Style::kUnknown;
  };

  void find_columns(const std::vector<std::string>& header);
  void read(Column& column);
  void settle(Column& column, Style style, const market::CsvField& from);
  std::uint64_t integer(const Column& column, const market::CsvField& from) const;
  [[noreturn]] void refuse(const Column& column, const market::CsvField& from,
                           const std::string& rule) const;

  market::CsvRows& rows_;
  int rtype_ = -1;
  bool first_pending_ = false;  ///< the row that told the type has not been handed out
  std::vector<Column> columns_;
  Column ts_out_;
  std::size_t symbol_ = kAbsent;
  std::size_t width_ = 0;
  std::vector<std::string> ignored_;
  std::size_t size_ = 0;
  std::array<std::byte, 1020> record_{};
};

}  // namespace foxhunt::columns
