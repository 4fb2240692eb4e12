// Any text through the CSV reader, with settings that its first byte chooses: it ends in records or
// in a typed error; every byte is counted; a strict reading gives the same; what inspection says of
// it can be written; memory is flat.
#include "foxhunt/base/error.h"
#include "foxhunt/market/csv_reader.h"
#include "foxhunt/market/dbn_records.h"
#include "foxhunt/market/inspect.h"

#include "fuzz/fuzz.h"

namespace fuzz = foxhunt::fuzz;
namespace market = foxhunt::market;

namespace {

market::ReadOptions options_of(std::uint8_t bits) {
  market::ReadOptions options;
  options.strict = (bits & 1U) != 0;
  if ((bits & 2U) != 0) options.csv.time_zone = "America/Chicago";
  if ((bits & 4U) != 0) options.csv.time_format = "%Y-%m-%d %H:%M:%S";
  if ((bits & 8U) != 0) options.csv.delimiter = "tab";
  if ((bits & 16U) != 0) options.csv.bar_stamp = "end";
  return options;
}

bool is_packed(const std::string& bytes) {  // then stats count other bytes than these
  return bytes.starts_with("\x1F\x8B") || bytes.starts_with("\x28\xB5\x2F\xFD") ||
         (bytes.size() > 3 && bytes.substr(1, 3) == "\x2A\x4D\x18");
}

/// A bar in DBN's bytes and back: what the reader hands out is what the writer can hold.
void through_dbn(const market::Bar& bar) {
  if (foxhunt::is_null(bar.start) || foxhunt::count(bar.start) < 0) return;  // not DBN's
  const auto bytes = market::encode_bar(bar, market::rtype::kOhlcv1m);
  const market::Bar back = market::decode_bar(bytes, bar.span);
  fuzz::require(back.start == bar.start && back.open.nano == bar.open.nano &&
                    back.high.nano == bar.high.nano && back.low.nano == bar.low.nano &&
                    back.close.nano == bar.close.nano && back.volume == bar.volume,
                "a bar is the same behind DBN");
}

void read_records(const std::string& bytes, const market::ReadOptions& options) {
  const auto reader = market::make_csv_reader(market::memory_bytes(bytes, "fuzz"), options);
  std::int64_t records = 0;
  while (const market::Record* record = reader->next()) {
    ++records;
    if (const auto* bar = std::get_if<market::Bar>(record)) through_dbn(*bar);
  }
  const market::ReadStats& stats = reader->stats();
  fuzz::require(records == stats.records, "records are counted");
  std::int64_t by_type = 0;
  for (const auto& [rtype, n] : stats.by_rtype) by_type += n;
  fuzz::require(by_type == records, "records are counted by type");
  if (!is_packed(bytes)) {
    fuzz::require(stats.bytes + stats.rest_bytes == static_cast<std::int64_t>(bytes.size()),
                  "every byte is counted");
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const market::ReadOptions options = options_of(data[0]);
  const std::string bytes = fuzz::text_of(data + 1, size - 1);
  // Two buffers of the sources and one row of up to 1 MiB.
  const fuzz::AllocationLimit limit((std::size_t{8} << 20) + 64 * size);
  try {
    read_records(bytes, options);
    const auto reader = market::make_csv_reader(market::memory_bytes(bytes, "fuzz"), options);
    const market::Inspection inspection = market::inspect(*reader);
    fuzz::require(inspection.records == reader->stats().records, "inspection sees every record");
    fuzz::require(!market::to_text(inspection).empty(), "an inspection has a text");
    fuzz::require(!market::to_json(inspection).empty(), "an inspection has a JSON text");
  } catch (const foxhunt::FormatError&) {
  } catch (const foxhunt::DataError&) {  // strict, and cut short
    fuzz::require(options.strict, "only a strict reading refuses what is cut short");
  }
  return 0;
}
