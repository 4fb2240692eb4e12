// Which form a file has: by its bytes where it is read, by its name where it is written.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/csv_io.h"
#include "foxhunt/columns/dbn_io.h"
#include "foxhunt/columns/parquet.h"
#include "foxhunt/columns/record_io.h"
#include "foxhunt/market/byte_source.h"
#include "foxhunt/market/csv_rows.h"
#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/gzip_source.h"

namespace foxhunt::columns {
namespace {

enum class Form { kDbn, kParquet, kCsv };

Form form_of(const std::filesystem::path& path, int dbn_version) {
  if (dbn_version != 0) return Form::kDbn;
  market::PeekSource source(market::open_bytes(path));
  constexpr std::size_t kEnough = 2048;  // two records of any type
  const auto front = source.peek(kEnough);
  const std::string_view text(reinterpret_cast<const char*>(front.data()), front.size());
  if (text.starts_with("PAR1")) return Form::kParquet;
  if (text.starts_with("DBN") || market::dbn::looks_like_fragment(front)) return Form::kDbn;
  return Form::kCsv;
}

}  // namespace

std::unique_ptr<RecordSource> open_source(const std::filesystem::path& path,
                                          const SourceOptions& options) {
  switch (form_of(path, options.dbn_version)) {
    case Form::kDbn:
      return open_dbn(path, options);
    case Form::kParquet:
      return open_parquet(path, options);
    case Form::kCsv:
      break;
  }
  return open_csv(path, options);
}

bool has_records(const std::filesystem::path& path) {
  if (form_of(path, 0) != Form::kCsv) return true;
  market::CsvRows rows(market::gunzip(market::open_bytes(path)), ',');
  if (!rows.next()) return false;
  constexpr std::array<std::string_view, 4> kHeader{"ts_event", "rtype", "publisher_id",
                                                    "instrument_id"};
  return std::ranges::all_of(kHeader, [&](std::string_view name) {
    return std::ranges::any_of(rows.fields(),
                               [&](const market::CsvField& field) { return field.text == name; });
  });
}

std::unique_ptr<RecordSink> open_sink(const std::filesystem::path& path,
                                      const market::DbnMetadata& metadata,
                                      const SinkOptions& options) {
  const std::filesystem::path plain = path.extension() == ".zst" ? path.stem() : path.filename();
  if (plain.extension() == ".dbn") return dbn_sink(path, metadata, options.level);
  if (plain.extension() == ".csv") {
    return csv_sink(open_output(path, options.level), path.string(), metadata, options.style);
  }
  if (path.extension() == ".parquet") return parquet_sink(path, metadata);
  throw UsageError(
      fmt::format("{}: the name says no form; .dbn, .dbn.zst, .csv, .csv.zst and "
                  ".parquet are written",
                  path.string()));
}

}  // namespace foxhunt::columns
