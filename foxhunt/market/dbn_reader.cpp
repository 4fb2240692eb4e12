#include "foxhunt/market/dbn_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_bytes.h"
#include "foxhunt/market/dbn_metadata.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t kBufferSize = std::size_t{64} << 10;  // at least one record

struct Frame {
  std::size_t size;
  int rtype;
};

Frame frame_at(std::span<const std::byte> bytes) {
  return {load<std::uint8_t>(bytes, 0) * kDbnLengthUnit, load<std::uint8_t>(bytes, 1)};
}

class DbnReader final : public Reader {
 public:
  DbnReader(std::unique_ptr<ByteSource> source, const ReadOptions& options)
      : source_(std::move(source)), strict_(options.strict), buffer_(kBufferSize) {
    if (options.dbn_version < 0 || options.dbn_version > kNewestDbnVersion) {
      throw ConfigError(fmt::format("[dbn_reader] dbn_version = {} is outside [0, {}]",
                                    options.dbn_version, kNewestDbnVersion));
    }
    fill(kDbnPreludeSize);
    if (available() >= 3 && std::memcmp(front().data(), "DBN", 3) == 0) {
      read_metadata();
    } else {
      begin_fragment(options.dbn_version);
    }
    if (const auto bars = dbn_bar_rtype(info_.schema)) schema_span_ = dbn_bar_span(*bars);
    ts_out_size_ = info_.has_ts_out ? kDbnTsOutSize : 0;
  }

  const StreamInfo& info() const override { return info_; }
  const ReadStats& stats() const override { return stats_; }

  const Record* next() override {
    while (next_frame()) {
      const auto record = front().first(frame_.size);
      const bool handed_out = decode(record.first(frame_.size - ts_out_size_));
      ++*count_;
      begin_ += frame_.size;
      stats_.bytes += static_cast<std::int64_t>(frame_.size);
      if (handed_out) {
        ++stats_.records;
        return &record_;
      }
      ++stats_.skipped_by_rtype[frame_.rtype];
    }
    return nullptr;
  }

 private:
  std::span<const std::byte> front() const {
    return std::span<const std::byte>(buffer_).subspan(begin_, end_ - begin_);
  }
  std::size_t available() const { return end_ - begin_; }

  /// Makes at least `n` bytes available unless the stream ends before.
  bool fill(std::size_t n) {
    if (available() >= n) return true;
    std::memmove(buffer_.data(), buffer_.data() + begin_, available());
    end_ -= std::exchange(begin_, 0);
    try {
      // As much as there is: a record of a pipe is handed out as soon as it was written.
      while (available() < n) {
        const std::size_t got = source_->read_some(std::span(buffer_).subspan(end_));
        if (got == 0) break;
        end_ += got;
      }
    } catch (const FormatError& error) {
      throw FormatError(fmt::format("{} (after {} records)", error.what(), stats_.records));
    }
    stats_.frames = source_->frames();
    return available() >= n;
  }

  void read_metadata() {
    const DbnPrelude prelude = parse_dbn_prelude(front(), source_->name());
    begin_ += kDbnPreludeSize;
    // In steps: a length that lies must not cost its gigabyte.
    std::vector<std::byte> body;
    while (body.size() < prelude.length && fill(1)) {
      const std::size_t n = std::min(available(), prelude.length - body.size());
      body.insert(body.end(), front().begin(), front().begin() + static_cast<std::ptrdiff_t>(n));
      begin_ += n;
    }
    if (body.size() < prelude.length) {
      throw FormatError(fmt::format("{}: ends inside its metadata, at byte {} of {}",
                                    source_->name(), kDbnPreludeSize + body.size(),
                                    kDbnPreludeSize + prelude.length));
    }
    info_ = to_stream_info(parse_dbn_metadata(prelude, body, source_->name()), source_->name());
    stats_.bytes = static_cast<std::int64_t>(kDbnPreludeSize + prelude.length);
  }

  void begin_fragment(int version) {
    if (version == 0) fill(kBufferSize);
    if (version == 0 && !looks_like_dbn_fragment(front())) {
      throw FormatError(fmt::format("{}: begins neither with DBN metadata nor with a DBN record",
                                    source_->name()));
    }
    info_.format = "dbn";
    info_.schema = schema_name(0xFFFF);
    info_.version = version != 0 ? version : infer_version();
  }

  /// The first record whose size depends on the version tells; else none does.
  int infer_version() const {
    auto rest = front();
    while (rest.size() >= kDbnHeaderSize) {
      const Frame frame = frame_at(rest);
      if (frame.size < kDbnHeaderSize || frame.size > rest.size()) break;
      if (const int version = dbn_version_by_size(frame.rtype, frame.size)) return version;
      rest = rest.subspan(frame.size);
    }
    return kNewestDbnVersion;
  }

  /// Makes the next record available whole; false at the end.
  bool next_frame() {
    if (!fill(1)) return end(source_->truncated());
    const std::size_t size = load<std::uint8_t>(front(), 0) * kDbnLengthUnit;
    if (size < kDbnHeaderSize + ts_out_size_) refuse("record", size, kDbnHeaderSize + ts_out_size_);
    if (!fill(size)) return end(true);
    frame_ = frame_at(front());
    if (count_ == nullptr || frame_.rtype != counted_rtype_) {
      counted_rtype_ = frame_.rtype;
      count_ = &stats_.by_rtype[frame_.rtype];
    }
    return true;
  }

  bool end(bool truncated) {
    stats_.truncated = truncated;
    stats_.rest_bytes = static_cast<std::int64_t>(available());
    if (truncated && strict_) {
      throw DataError(fmt::format("{}: truncated at byte {} after {} records, {} bytes of the next",
                                  source_->name(), stats_.bytes, stats_.records,
                                  stats_.rest_bytes));
    }
    return false;
  }

  /// Into record_; false for types that are not handed out.
  bool decode(std::span<const std::byte> record) {
    switch (frame_.rtype) {
      case rtype::kTrades:
        record_ = decode_trade(check_size(record));
        return true;
      case rtype::kMbp1:
        record_ = decode_top_of_book(check_size(record));
        return true;
      case rtype::kMbo:
        record_ = decode_order_event(check_size(record));
        return true;
      case rtype::kDefinition: {
        const int version = dbn_definition_version(record.size(), info_.version);
        record_ = decode_definition(check_size(record, version), version);
        return true;
      }
      default:
        break;
    }
    auto span = dbn_bar_span(frame_.rtype);
    if (frame_.rtype == rtype::kOhlcvOld) span = schema_span_;
    if (!span) return false;
    record_ = decode_bar(check_size(record), *span);
    return true;
  }

  std::span<const std::byte> check_size(std::span<const std::byte> record, int version = 1) {
    const DbnRecordKind& kind = *find_dbn_record_kind(frame_.rtype);
    const std::size_t least = kind.sizes[static_cast<std::size_t>(version - 1)];
    if (record.size() < least) refuse(kind.name, frame_.size, least + ts_out_size_);
    return record;
  }

  [[noreturn]] void refuse(std::string_view kind, std::size_t size, std::size_t least) const {
    throw FormatError(
        fmt::format("{}: byte {}: a {} of {} bytes; {} or more are possible (after {} "
                    "records)",
                    source_->name(), stats_.bytes, kind, size, least, stats_.records));
  }

  std::unique_ptr<ByteSource> source_;
  bool strict_;
  StreamInfo info_;
  ReadStats stats_;
  std::optional<std::chrono::nanoseconds> schema_span_;  ///< for bars of type 0x11
  std::size_t ts_out_size_ = 0;

  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  Frame frame_{};
  Record record_;
  int counted_rtype_ = -1;
  std::int64_t* count_ = nullptr;  ///< of counted_rtype_; nodes of a map stay where they are
};

}  // namespace

std::unique_ptr<Reader> make_dbn_reader(std::unique_ptr<ByteSource> source,
                                        const ReadOptions& options) {
  return std::make_unique<DbnReader>(std::move(source), options);
}

bool looks_like_dbn_fragment(std::span<const std::byte> front) {
  if (front.size() < kDbnHeaderSize) return false;
  const Frame first = frame_at(front);
  if (!is_plausible_dbn_record(first.rtype, first.size)) return false;
  if (front.size() < first.size + kDbnHeaderSize) return true;
  const Frame second = frame_at(front.subspan(first.size));
  return is_plausible_dbn_record(second.rtype, second.size);
}

}  // namespace foxhunt::market
