#include "foxhunt/market/dbn_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/dbn/values.h"
#include "foxhunt/market/dbn_metadata.h"
#include "foxhunt/market/symbol_map.h"

namespace foxhunt::market {
namespace {

constexpr Date kFirstDay{std::chrono::year{1970}, std::chrono::month{1}, std::chrono::day{1}};
constexpr Date kLastDay{std::chrono::year{9999}, std::chrono::month{12}, std::chrono::day{31}};

class DbnReader final : public Reader {
 public:
  DbnReader(std::unique_ptr<ByteSource> source, const ReadOptions& options)
      : stream_(std::move(source), {.version = options.dbn_version, .strict = options.strict}),
        info_(info_of(stream_)),
        decoder_(info_.schema) {
    symbols_.add(info_);
  }

  const StreamInfo& info() const override { return info_; }
  const ReadStats& stats() const override { return stream_.stats(); }

  const Record* next() override {
    while (stream_.next(raw_)) {
      if (!decoder_.decode(raw_, record_)) {
        stream_.pass_over(raw_);
        continue;
      }
      if (const auto* mapping = std::get_if<SymbolMapping>(&record_)) apply(*mapping);
      return &record_;
    }
    return nullptr;
  }

  std::string symbol_of(const InstrumentKey& key, UnixNanos at) const override {
    return std::string(symbols_.symbol(info_.dataset, at, key.instrument_id));
  }

 private:
  static StreamInfo info_of(const dbn::RecordStream& stream) {
    if (stream.has_metadata()) return to_stream_info(stream.metadata(), stream.name());
    StreamInfo info;
    info.format = "dbn";
    info.schema = schema_name(stream.metadata().schema);
    info.version = stream.version();
    return info;
  }

  /// The newest word of a live stream. Without a start it speaks of all days where nothing else was
  /// said of the id, else of those from its own on.
  void apply(const SymbolMapping& mapping) {
    const std::uint32_t id = mapping.instrument.instrument_id;
    const UnixNanos from = is_null(mapping.start) ? mapping.ts_event : mapping.start;
    if (mapping.out_symbol.empty() || is_null(from)) return;
    SymbolInterval interval{.raw_symbol = mapping.out_symbol,
                            .start = utc_date(from),
                            .end = is_null(mapping.end) ? kLastDay : utc_date(mapping.end),
                            .instrument_id = id};
    if (symbols_.symbol(info_.dataset, interval.start, id) == mapping.out_symbol) return;
    const auto known = std::ranges::find(info_.mappings, id, &SymbolInterval::instrument_id);
    if (known == info_.mappings.end() && is_null(mapping.start)) interval.start = kFirstDay;
    std::vector<SymbolInterval> later;  // what an interval with an end leaves of others
    for (auto at = known; at != info_.mappings.end(); ++at) {
      if (at->instrument_id != id || at->end <= interval.start) continue;
      if (at->end > interval.end) {
        later.push_back({at->raw_symbol, std::max(at->start, interval.end), at->end, id});
      }
      at->end = std::max(at->start, interval.start);
    }
    symbols_.replace(info_.dataset, interval);
    info_.mappings.push_back(std::move(interval));
    info_.mappings.insert(info_.mappings.end(), later.begin(), later.end());
  }

  dbn::RecordStream stream_;
  StreamInfo info_;
  dbn::ValueDecoder decoder_;
  SymbolMap symbols_;
  dbn::RawRecord raw_;
  Record record_;
};

}  // namespace

std::unique_ptr<Reader> make_dbn_reader(std::unique_ptr<ByteSource> source,
                                        const ReadOptions& options) {
  return std::make_unique<DbnReader>(std::move(source), options);
}

}  // namespace foxhunt::market
