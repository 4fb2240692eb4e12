#include "foxhunt/market/dbn_reader.h"

#include <optional>
#include <utility>

#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/dbn_metadata.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::market {
namespace {

class DbnReader final : public Reader {
 public:
  DbnReader(std::unique_ptr<ByteSource> source, const ReadOptions& options)
      : stream_(std::move(source), {.version = options.dbn_version, .strict = options.strict}) {
    if (stream_.has_metadata()) {
      info_ = to_stream_info(stream_.metadata(), stream_.name());
    } else {
      info_.format = "dbn";
      info_.schema = schema_name(stream_.metadata().schema);
      info_.version = stream_.version();
    }
    if (const auto bars = dbn_bar_rtype(info_.schema)) schema_span_ = dbn_bar_span(*bars);
  }

  const StreamInfo& info() const override { return info_; }
  const ReadStats& stats() const override { return stream_.stats(); }

  const Record* next() override {
    while (stream_.next(raw_)) {
      if (decode()) return &record_;
      stream_.pass_over(raw_);
    }
    return nullptr;
  }

 private:
  /// Into record_; false for types that are not handed out.
  bool decode() {
    switch (raw_.rtype) {
      case rtype::kTrades:
        record_ = decode_trade(raw_.bytes);
        return true;
      case rtype::kMbp1:
        record_ = decode_top_of_book(raw_.bytes);
        return true;
      case rtype::kMbo:
        record_ = decode_order_event(raw_.bytes);
        return true;
      case rtype::kDefinition:
        record_ = decode_definition(raw_.bytes, raw_.version);
        return true;
      default:
        break;
    }
    auto span = dbn_bar_span(raw_.rtype);
    if (raw_.rtype == rtype::kOhlcvOld) span = schema_span_;
    if (!span) return false;
    record_ = decode_bar(raw_.bytes, *span);
    return true;
  }

  dbn::RecordStream stream_;
  StreamInfo info_;
  std::optional<std::chrono::nanoseconds> schema_span_;  ///< for bars of type 0x11
  dbn::RawRecord raw_;
  Record record_;
};

}  // namespace

std::unique_ptr<Reader> make_dbn_reader(std::unique_ptr<ByteSource> source,
                                        const ReadOptions& options) {
  return std::make_unique<DbnReader>(std::move(source), options);
}

}  // namespace foxhunt::market
