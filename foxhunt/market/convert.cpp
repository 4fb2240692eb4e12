#include "foxhunt/market/convert.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_records.h"
#include "foxhunt/market/dbn_writer.h"

namespace foxhunt::market {
namespace {

namespace fs = std::filesystem;

/// A file that is gone when this is.
struct Spool {
  explicit Spool(const fs::path& out) : path(out.string() + fmt::format(".spool-{}", ::getpid())) {}
  ~Spool() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  fs::path path;
};

const Bar& bar_of(const Record& record, std::int64_t index) {
  if (const auto* bar = std::get_if<Bar>(&record)) return *bar;
  throw DataError(
      fmt::format("[convert] record {}: {}; only bars are converted", index, kind_of(record)));
}

/// The schema of bars of this length.
std::string schema_of(const Bar& bar) {
  for (const int type : {rtype::kOhlcv1s, rtype::kOhlcv1m, rtype::kOhlcv1h, rtype::kOhlcv1d}) {
    if (dbn_bar_span(type) == bar.span) return std::string(rtype_name(type));
  }
  throw DataError(
      fmt::format("[convert] DBN has bars of 1 s, 1 min, 1 h and 1 d; the input's are of {} s",
                  std::chrono::duration<double>(bar.span).count()));
}

/// What a gateway says of the stream is counted and passed over.
const Record* next_of_market(Reader& reader, ConvertReport& report) {
  const Record* record = reader.next();
  while (record != nullptr) {
    if (std::holds_alternative<SymbolMapping>(*record)) {
      ++report.skipped_by_rtype[rtype::kSymbolMapping];
    } else if (const auto* message = std::get_if<Message>(record)) {
      ++report.skipped_by_rtype[message->is_error ? rtype::kError : rtype::kSystem];
    } else {
      return record;
    }
    record = reader.next();
  }
  return nullptr;
}

/// All bars of `reader` into the spool; what was seen, into `report`.
void spool_bars(Reader& reader, const fs::path& path, const std::string& dataset,
                ConvertReport& report) {
  const Record* record = next_of_market(reader, report);
  if (record == nullptr) throw DataError("[convert] the input holds no bars");
  StreamInfo info;
  info.dataset = dataset;
  info.schema = report.schema = schema_of(bar_of(*record, 0));
  DbnWriter writer(path, info, {.compress = false});
  for (; record != nullptr; record = next_of_market(reader, report)) {
    const Bar& bar = bar_of(*record, report.bars);
    if (is_null(bar.start)) {
      throw DataError(fmt::format("[convert] record {} has no time", report.bars));
    }
    if (report.bars == 0) report.first = bar.start;
    report.last = bar.start;
    writer.write(bar);
    ++report.bars;
  }
  writer.finish();
}

/// What stands in front of the bars: the input's own words, with the names DBN has for them.
StreamInfo metadata_of(const StreamInfo& input, const ConvertReport& report) {
  StreamInfo info = input;
  info.dataset = report.dataset;
  info.schema = report.schema;
  if (info.mappings.empty()) {
    throw DataError(
        "[convert] the input does not say which symbol its bars are of; name it (csv.symbol), or "
        "give the file a column symbol");
  }
  if (is_null(info.start)) info.start = report.first;
  return info;
}

}  // namespace

ConvertReport convert_bars(Reader& reader, const fs::path& out, const ConvertOptions& options) {
  ConvertReport report;
  report.dataset = options.dataset.empty() ? reader.info().dataset : options.dataset;
  if (report.dataset.empty()) {
    throw DataError("[convert] the input does not say whose data it is; name a dataset");
  }
  const Spool spool(out);
  spool_bars(reader, spool.path, report.dataset, report);
  report.truncated = reader.stats().truncated;
  for (const auto& [rtype, n] : reader.stats().skipped_by_rtype)
    report.skipped_by_rtype[rtype] += n;
  if (report.truncated && !options.allow_truncated) {
    throw DataError(fmt::format("[convert] the input is cut short after {} bars", report.bars));
  }

  const StreamInfo info = metadata_of(reader.info(), report);
  report.symbols = static_cast<std::int64_t>(info.symbols.size());
  DbnWriter writer(out, info, {.compress = out.extension() == ".zst"});
  const auto bars = open_reader(spool.path);
  while (const Record* record = bars->next()) writer.write(std::get<Bar>(*record));
  if (writer.records() != report.bars) {
    throw IoError(fmt::format("{}: {} of {} bars came back", spool.path.string(), writer.records(),
                              report.bars));
  }
  writer.finish();
  report.bytes = fs::file_size(out);
  return report;
}

}  // namespace foxhunt::market
