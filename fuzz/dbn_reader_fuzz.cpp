// Any bytes through the DBN reader: it ends in a typed error or at the end; every record and byte
// is counted; a strict reading differs only where the input is cut short; metadata, bars and
// definitions are the same behind the writer's bytes; memory is flat.
#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_metadata.h"
#include "foxhunt/market/dbn_reader.h"
#include "foxhunt/market/dbn_records.h"
#include "foxhunt/market/inspect.h"

#include "fuzz/fuzz.h"

namespace fuzz = foxhunt::fuzz;
namespace market = foxhunt::market;

namespace {

struct BehindTheWriter {
  void operator()(const market::Bar& bar) const {
    if (foxhunt::is_null(bar.start)) return;
    const auto back =
        market::decode_bar(market::encode_bar(bar, market::rtype::kOhlcv1m), bar.span);
    fuzz::require(back.instrument == bar.instrument && back.start == bar.start &&
                      back.open.nano == bar.open.nano && back.high.nano == bar.high.nano &&
                      back.low.nano == bar.low.nano && back.close.nano == bar.close.nano &&
                      back.volume == bar.volume,
                  "a bar is the same behind the writer");
  }
  void operator()(const market::Definition& d) const {
    try {
      const auto back = market::decode_definition(market::encode_definition(d), 3);
      fuzz::require(back.instrument == d.instrument && back.ts_event == d.ts_event &&
                        back.ts_recv == d.ts_recv && back.raw_symbol == d.raw_symbol &&
                        back.asset == d.asset && back.exchange == d.exchange &&
                        back.currency == d.currency &&
                        back.instrument_class == d.instrument_class &&
                        back.update_action == d.update_action &&
                        back.min_price_increment.nano == d.min_price_increment.nano &&
                        back.display_factor.nano == d.display_factor.nano &&
                        back.strike_price.nano == d.strike_price.nano &&
                        back.expiration == d.expiration && back.activation == d.activation,
                    "a definition is the same behind the writer");
    } catch (const foxhunt::DataError&) {  // a text that fills its field without a NUL
    }
  }
  template <class Other>
  void operator()(const Other& /*value*/) const {}
};

/// Counts of one reading, or -1 records where it is refused.
struct Reading {
  std::int64_t records = 0;
  bool truncated = false;
  bool cut_short = false;  ///< DataError
  bool refused = false;    ///< FormatError
};

Reading read_all(const std::string& bytes, const market::ReadOptions& options) {
  Reading reading;
  try {
    const auto reader = market::make_dbn_reader(market::memory_bytes(bytes, "fuzz"), options);
    try {
      while (const market::Record* record = reader->next()) {
        ++reading.records;
        std::visit(BehindTheWriter{}, *record);
      }
    } catch (const foxhunt::DataError&) {
      reading.cut_short = true;
    }
    const market::ReadStats& stats = reader->stats();
    reading.truncated = stats.truncated;
    std::int64_t framed = 0;
    std::int64_t skipped = 0;
    for (const auto& [rtype, n] : stats.by_rtype) framed += n;
    for (const auto& [rtype, n] : stats.skipped_by_rtype) skipped += n;
    fuzz::require(reading.records == stats.records && framed == reading.records + skipped,
                  "records are counted");
    fuzz::require(stats.truncated || stats.rest_bytes == 0, "a rest means cut short");
    if (stats.frames == 0 && !bytes.starts_with("\x28\xB5\x2F\xFD") &&
        (bytes.size() < 4 || bytes.substr(1, 3) != "\x2A\x4D\x18")) {
      fuzz::require(stats.bytes + stats.rest_bytes == static_cast<std::int64_t>(bytes.size()),
                    "every byte is counted");
    }
  } catch (const foxhunt::FormatError&) {
    reading.refused = true;
  }
  return reading;
}

void metadata_behind_the_writer(const std::string& bytes) {
  const auto all = std::as_bytes(std::span(bytes));
  try {
    const market::DbnPrelude prelude = market::parse_dbn_prelude(all, "fuzz");
    if (prelude.length > all.size() - market::kDbnPreludeSize) return;
    const auto metadata = market::parse_dbn_metadata(
        prelude, all.subspan(market::kDbnPreludeSize, prelude.length), "fuzz");
    const std::string written = market::encode_dbn_metadata(metadata);
    const auto again = std::as_bytes(std::span(written));
    const auto back = market::parse_dbn_metadata(market::parse_dbn_prelude(again, "fuzz"),
                                                 again.subspan(market::kDbnPreludeSize), "fuzz");
    fuzz::require(market::encode_dbn_metadata(back) == written,
                  "metadata is the same behind the writer");
    fuzz::require(back.symbols == metadata.symbols && back.partial == metadata.partial &&
                      back.not_found == metadata.not_found &&
                      back.mappings.size() == metadata.mappings.size() &&
                      back.dataset == metadata.dataset && back.schema == metadata.schema &&
                      back.start == metadata.start && back.limit == metadata.limit,
                  "metadata keeps its values behind the writer");
  } catch (const foxhunt::FormatError&) {
  } catch (const foxhunt::DataError&) {  // a text that fills its field without a NUL
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = fuzz::text_of(data, size);
  const fuzz::AllocationLimit limit((std::size_t{4} << 20) + 64 * size);
  market::ReadOptions options;
  if (!bytes.empty() && !bytes.starts_with("DBN")) options.dbn_version = data[size - 1] % 4;
  const Reading lenient = read_all(bytes, options);
  options.strict = true;
  const Reading strict = read_all(bytes, options);
  fuzz::require(!lenient.cut_short, "only a strict reading refuses what is cut short");
  fuzz::require(strict.records == lenient.records && strict.refused == lenient.refused &&
                    strict.truncated == lenient.truncated,
                "strict and lenient give the same records");
  fuzz::require(strict.cut_short == lenient.truncated, "strict refuses exactly what is cut short");
  metadata_behind_the_writer(bytes);
  if (lenient.refused) return 0;
  options.strict = false;
  const auto reader = market::make_dbn_reader(market::memory_bytes(bytes, "fuzz"), options);
  const market::Inspection inspection = market::inspect(*reader);
  fuzz::require(!market::to_text(inspection).empty(), "an inspection has a text");
  fuzz::require(!market::to_json(inspection).empty(), "an inspection has a JSON text");
  return 0;
}
