#pragma once
// A row of a CSV file as a record: finds the columns by the header's names and reads them typed.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/market/csv_format.h"
#include "foxhunt/market/csv_rows.h"
#include "foxhunt/market/csv_time.h"
#include "foxhunt/market/record.h"

namespace foxhunt::market {

enum class CsvKind { kBars, kTrades, kTopOfBook };

class CsvRecordParser {
 public:
  /// `rows` stands on the header line.
  /// Errors  FormatError naming the file, the columns it has and the one it lacks, or a layout that
  /// is not read (mbo,
  ///         mbp-10, bbo, definitions); ConfigError: a setting of `format` that is not possible.
  CsvRecordParser(const CsvRows& rows, const CsvFormat& format);

  CsvKind kind() const { return kind_; }
  bool has_instrument_id() const { return instrument_id_.present(); }
  bool has_symbol() const { return symbol_.present(); }

  /// Reads the row on which `rows` stands into `out`.
  /// Errors  FormatError with file:line:column, column name, value and rule.
  void parse(const CsvRows& rows, Record& out);
  /// The symbol of the row; its field, for messages.
  const CsvField& symbol_field(const CsvRows& rows) const { return rows.fields()[symbol_.index]; }

 private:
  static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
  enum class Style { kUnknown, kPretty, kRaw };

  struct Column {
    std::string name;
    std::size_t index = kAbsent;
    Style style = Style::kUnknown;  ///< of prices and times, settled by the first value
    bool present() const { return index != kAbsent; }
  };

  Column find(std::string_view name) const;
  Column need(const CsvRows& rows, std::string_view name, const char* hint) const;
  void find_kind(const CsvRows& rows);
  void find_columns(const CsvRows& rows, const CsvFormat& format);

  [[noreturn]] void refuse(const CsvRows& rows, const Column& column,
                           const std::string& rule) const;
  Price price(const CsvRows& rows, Column& column);
  UnixNanos time(const CsvRows& rows, Column& column);
  std::uint64_t count(const CsvRows& rows, const Column& column, std::uint64_t max) const;
  char letter(const CsvRows& rows, const Column& column, std::string_view allowed) const;
  InstrumentKey instrument(const CsvRows& rows) const;
  void parse_bar(const CsvRows& rows, Bar& bar);
  void parse_trade(const CsvRows& rows, Trade& trade);
  void parse_top(const CsvRows& rows, TopOfBook& top);

  CsvKind kind_ = CsvKind::kBars;
  std::vector<std::string> header_;  ///< lower case
  bool databento_ = false;           ///< has Databento's columns: numbers may be raw
  CsvTimeParser time_parser_;
  CsvTimeParser nanos_parser_;
  bool stamp_is_end_ = false;
  std::chrono::seconds bar_span_{60};

  Column time_, ts_recv_, rtype_, publisher_id_, instrument_id_, symbol_;
  Column open_, high_, low_, close_, volume_;
  Column price_, size_, action_, side_, flags_, depth_, sequence_, ts_in_delta_;
  Column bid_px_, ask_px_, bid_sz_, ask_sz_, bid_ct_, ask_ct_;
};

}  // namespace foxhunt::market
