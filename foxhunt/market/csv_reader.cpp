#include "foxhunt/market/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/market/csv_record.h"
#include "foxhunt/market/csv_rows.h"
#include "foxhunt/market/csv_symbols.h"
#include "foxhunt/market/dbn_records.h"
#include "foxhunt/market/gzip_source.h"

namespace foxhunt::market {
namespace {

char delimiter_of(const std::string& text) {
  if (text == "tab") return '\t';
  if (text.size() == 1 && text != "\"" && text != "\n" && text != "\r") return text[0];
  throw ConfigError(fmt::format("[csv] delimiter = '{}' must be one character, or tab", text));
}

/// The rtype of Databento's bars of this length; other lengths have none of their own.
int bar_rtype(std::chrono::nanoseconds span) {
  for (const int candidate : {rtype::kOhlcv1s, rtype::kOhlcv1m, rtype::kOhlcv1h, rtype::kOhlcv1d}) {
    if (dbn_bar_span(candidate) == span) return candidate;
  }
  return rtype::kOhlcvOld;
}

std::string bar_schema(std::chrono::nanoseconds span) {
  const int type = bar_rtype(span);
  if (type != rtype::kOhlcvOld) return std::string(rtype_name(type));
  return fmt::format("ohlcv-{}s", std::chrono::floor<std::chrono::seconds>(span).count());
}

int rtype_of(const Record& record) {
  if (const auto* bar = std::get_if<Bar>(&record)) return bar_rtype(bar->span);
  return std::holds_alternative<Trade>(record) ? rtype::kTrades : rtype::kMbp1;
}

class CsvReader final : public Reader {
 public:
  CsvReader(std::unique_ptr<ByteSource> source, const ReadOptions& options)
      : options_(options), rows_(open(std::move(source), options)), parser_(rows_, options.csv) {
    info_.format = "csv";
    if (parser_.has_symbol() || !options.csv.symbol.empty()) {
      info_.stype_in = "raw_symbol";
      info_.stype_out = "instrument_id";
    }
    ahead_ = read();
    info_.schema = schema();
  }

  const StreamInfo& info() const override { return info_; }
  const ReadStats& stats() const override { return stats_; }

  const Record* next() override {
    if (!std::exchange(ahead_, false) && !read()) return nullptr;
    ++stats_.records;
    ++stats_.by_rtype[rtype_of(record_)];
    return &record_;
  }

 private:
  /// The rows of `source`, standing on its header.
  static CsvRows open(std::unique_ptr<ByteSource> source, const ReadOptions& options) {
    CsvRows rows(gunzip(std::move(source)), delimiter_of(options.csv.delimiter),
                 options.whole_lines);
    if (!rows.next()) {
      rows.fail(1, rows.source().truncated()
                       ? "the compressed file is cut short inside the header line"
                       : "the file is empty: a CSV file begins with a header line");
    }
    return rows;
  }

  /// Of the first row; without one, of what the settings say.
  std::string schema() const {
    switch (parser_.kind()) {
      case CsvKind::kTrades:
        return "trades";
      case CsvKind::kTopOfBook:
        return "mbp-1";
      case CsvKind::kBars:
        break;
    }
    return bar_schema(ahead_ ? std::get<Bar>(record_).span
                             : std::chrono::seconds{options_.csv.bar_seconds});
  }

  bool read() {
    const bool found = rows_.next();
    stats_.bytes = rows_.bytes();
    stats_.frames = rows_.source().frames();
    if (!found) {
      stats_.truncated = rows_.source().truncated();
      stats_.rest_bytes = rows_.rest_bytes();
      if (stats_.truncated && options_.strict) {
        throw DataError(fmt::format(
            "{}: the compressed file is cut short behind line {} ({} records are whole)",
            rows_.source().name(), rows_.line() - 1, stats_.records));
      }
      return false;
    }
    parser_.parse(rows_, record_);
    note_times();
    note_symbol();
    return true;
  }

  void note_times() {
    const auto* bar = std::get_if<Bar>(&record_);
    const UnixNanos first = index_time(record_);
    const UnixNanos last = bar != nullptr ? bar->end() : first + std::chrono::nanoseconds{1};
    info_.start = is_null(info_.start) ? first : std::min(info_.start, first);
    info_.end = std::max(info_.end, last);
  }

  void note_symbol() {
    const bool column = parser_.has_symbol();
    if (!column && options_.csv.symbol.empty()) {
      if (!parser_.has_instrument_id()) set_id(1);
      return;
    }
    const std::string_view symbol = column ? parser_.symbol_field(rows_).text : options_.csv.symbol;
    const std::int64_t place = column ? parser_.symbol_field(rows_).column : 1;
    if (symbol.empty()) rows_.fail(place, "symbol = '' is empty");
    if (!parser_.has_instrument_id()) set_id(symbols_.id_of(symbol));
    const std::string rule =
        symbols_.note(info_, instrument_of(record_).instrument_id, symbol, index_time(record_));
    if (!rule.empty()) rows_.fail(place, fmt::format("symbol = '{}' {}", symbol, rule));
  }

  void set_id(std::uint32_t id) {
    std::visit([id](auto& record) { record.instrument.instrument_id = id; }, record_);
  }

  ReadOptions options_;
  CsvRows rows_;
  CsvRecordParser parser_;
  CsvSymbols symbols_;
  StreamInfo info_;
  ReadStats stats_;
  Record record_;
  bool ahead_ = false;  ///< record_ is read, but not handed out
};

}  // namespace

std::unique_ptr<Reader> make_csv_reader(std::unique_ptr<ByteSource> source,
                                        const ReadOptions& options) {
  return std::make_unique<CsvReader>(std::move(source), options);
}

}  // namespace foxhunt::market
