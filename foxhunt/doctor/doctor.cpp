#include "foxhunt/doctor/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/doctor/check.h"
#include "foxhunt/doctor/cross_file.h"
#include "foxhunt/market/inspect.h"

namespace foxhunt::doctor {
namespace {

using market::Record;

constexpr std::size_t kMostSymbols = 1000;

/// Books and quotes of other schemas as what they have in common.
template <class Value>
market::TopOfBook best_level(const Value& value, const market::BookLevel& level, char action) {
  return {.instrument = value.instrument,
          .ts_event = value.ts_event,
          .ts_recv = value.ts_recv,
          .price = value.price,
          .size = value.size,
          .action = action,
          .side = value.side,
          .flags = value.flags,
          .depth = 0,
          .sequence = value.sequence,
          .ts_in_delta = 0,
          .level = level};
}

/// Passes records on to whoever asks and shows each to the checks on its way; an error of the
/// reader becomes the end of the file.
class CheckingReader final : public market::Reader {
 public:
  CheckingReader(market::Reader& inner, const CheckOptions& options, Findings& findings)
      : inner_(inner),
        findings_(findings),
        series_(inner, options.product),
        checks_{
            make_order_check(findings),  make_bar_check(findings),     make_price_check(findings),
            make_volume_check(findings), make_session_check(findings), make_quote_check(findings),
            make_trade_check(findings),  make_book_check(findings),    make_file_check(findings)} {}

  const market::StreamInfo& info() const override { return inner_.info(); }
  const market::ReadStats& stats() const override { return inner_.stats(); }

  const Record* next() override {
    const Record* record = nullptr;
    try {
      record = inner_.next();
    } catch (const Error& error) {
      findings_.add(RuleId::kUnreadable, Seen{.number = number_ + 1, .byte = inner_.stats().bytes},
                    [&] { return std::string(error.what()); });
      return nullptr;
    }
    if (record == nullptr) return nullptr;
    Seen seen{
        .number = ++number_, .byte = inner_.stats().bytes, .time = market::index_time(*record)};
    const Series& series = series_.of(*record, seen.time);
    seen.series = &series;
    std::visit([&](const auto& value) { look(seen, value); }, *record);
    return record;
  }

  /// Every record has passed: what only the whole file shows.
  void finish(const market::Inspection& inspection) {
    const Whole whole{.series = series_,
                      .inspection = inspection,
                      .is_event_bars = bars_ > 0 && 2 * off_grid_ > bars_};
    for (const auto& check : checks_) check->finish(whole);
  }

  void describe(FileReport& report) {
    report.bars = bars_;
    report.first = first_bar_;
    report.last = last_bar_;
    for (const auto& series : series_.all()) {
      if (report.symbols.size() < kMostSymbols) report.symbols.push_back(series->symbol);
      if (const SymbolEnds* ends = ends_.find(*series)) report.ends[series->symbol] = *ends;
    }
  }

 private:
  template <class Value>
  void look(const Seen& seen, const Value& value) {
    for (const auto& check : checks_) check->see(seen, value);
    note(seen, value);
  }
  void look(const Seen& seen, const market::DepthOfBook& book) {
    look(seen, best_level(book, book.levels[0], book.action));
  }
  void look(const Seen& seen, const market::Quote& quote) {
    look(seen, best_level(quote, quote.level, 'N'));
  }

  void note(const Seen& seen, const market::Bar& bar) {
    if (bars_++ == 0) first_bar_ = bar.start;
    last_bar_ = bar.start;
    if (!is_null(bar.start) &&
        bar.start.time_since_epoch() % bar.span != std::chrono::nanoseconds{0})
      ++off_grid_;
    note_price(seen, bar.close);
  }
  void note(const Seen& seen, const market::Trade& trade) { note_price(seen, trade.price); }
  void note(const Seen& seen, const market::TopOfBook& /*top*/) { note_price(seen, Price::null()); }
  void note(const Seen& seen, const market::OrderEvent& /*event*/) {
    note_price(seen, Price::null());
  }
  void note(const Seen& seen, const market::Definition& /*definition*/) {
    note_price(seen, Price::null());
  }
  /// Of types that no check looks at.
  template <class Other>
  void note(const Seen& seen, const Other& other) {
    findings_.add(RuleId::kNotChecked, seen,
                  [&] { return std::string(market::kind_of(market::Record(other))); });
  }
  void note_price(const Seen& seen, Price price) {
    SymbolEnds& ends = ends_[*seen.series];
    if (is_null(ends.first)) ends.first = seen.time;
    ends.last = std::max(ends.last, seen.time);
    if (price.is_null()) return;
    if (ends.first_price.is_null()) ends.first_price = price;
    ends.last_price = price;
  }

  market::Reader& inner_;
  Findings& findings_;
  SeriesTable series_;
  std::array<std::unique_ptr<Check>, 9> checks_;
  PerSeries<SymbolEnds> ends_;
  std::int64_t number_ = 0;
  std::int64_t bars_ = 0;
  std::int64_t off_grid_ = 0;
  UnixNanos first_bar_ = kNullTime;
  UnixNanos last_bar_ = kNullTime;
};

}  // namespace

std::int64_t FileReport::count(Severity severity) const {
  return std::ranges::count(findings, severity, [](const Finding& f) { return f.rule->severity; });
}

FileReport check_records(market::Reader& reader, const CheckOptions& options) {
  FileReport report;
  Findings findings(reader.info().format == "csv");
  CheckingReader checking(reader, options, findings);
  const market::Inspection inspection = market::inspect(checking, {.product = options.product});
  checking.describe(report);
  report.records = inspection.records;
  report.format = inspection.info.version == 0
                      ? inspection.info.format
                      : fmt::format("{} {}", inspection.info.format, inspection.info.version);
  report.schema = inspection.info.schema;
  if (report.bars == 0 && inspection.first) {
    report.first = market::index_time(*inspection.first);
    report.last = market::index_time(*inspection.last);
  }
  checking.finish(inspection);
  report.findings = findings.list();
  report.bad_days = findings.days();
  return report;
}

FileReport check_file(const std::filesystem::path& path, const CheckOptions& options) {
  FileReport report;
  std::unique_ptr<market::Reader> reader;
  try {
    reader = market::open_reader(path, options.read);
  } catch (const FormatError& error) {
    Findings findings(false);
    findings.add_whole(RuleId::kUnreadable, 1, error.what());
    report.findings = findings.list();
  }
  if (reader != nullptr) report = check_records(*reader, options);
  report.path = path;
  report.sha256 = sha256_of_file(path);
  report.bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  return report;
}

std::vector<FileReport> check_files(const std::vector<std::filesystem::path>& paths,
                                    const CheckOptions& options) {
  std::vector<FileReport> reports;
  for (const auto& path : paths) reports.push_back(check_file(path, options));
  check_between_files(reports);
  return reports;
}

}  // namespace foxhunt::doctor
