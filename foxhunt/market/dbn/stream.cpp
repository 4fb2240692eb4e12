#include "foxhunt/market/dbn/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_bytes.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::market::dbn {
namespace {

constexpr std::size_t kInferFrom = std::size_t{64} << 10;

struct Frame {
  std::size_t size;
  int rtype;
};

Frame frame_at(std::span<const std::byte> bytes) {
  return {load<std::uint8_t>(bytes, 0) * kDbnLengthUnit, load<std::uint8_t>(bytes, 1)};
}

}  // namespace

RecordStream::RecordStream(std::unique_ptr<ByteSource> source, const StreamOptions& options)
    : name_(source->name()), source_(std::move(source)) {
  begin(options);
}

RecordStream::RecordStream(std::span<const std::byte> bytes, std::string name,
                           const StreamOptions& options)
    : at_(bytes.data()), end_(bytes.data() + bytes.size()), name_(std::move(name)) {
  begin(options);
}

void RecordStream::begin(const StreamOptions& options) {
  if (options.version < 0 || options.version > kNewestDbnVersion) {
    throw ConfigError(fmt::format("[dbn_reader] dbn_version = {} is outside [0, {}]",
                                  options.version, kNewestDbnVersion));
  }
  strict_ = options.strict;
  fill(kDbnPreludeSize);
  if (front().size() >= 3 && std::memcmp(at_, "DBN", 3) == 0) {
    read_metadata();
  } else {
    begin_fragment(options.version);
  }
  ts_out_size_ = metadata_.ts_out ? kDbnTsOutSize : 0;
}

/// Makes at least `n` bytes available unless the stream ends before.
bool RecordStream::fill(std::size_t n) {
  if (front().size() >= n) return true;
  if (!source_) return false;
  try {
    // As much as there is: a record of a pipe is handed out as soon as it was written.
    while (front().size() < n) {
      const auto grown = source_->more(front());
      if (grown.size() == front().size()) break;
      at_ = grown.data();
      end_ = at_ + grown.size();
    }
  } catch (const FormatError& error) {
    stats_.rest_bytes = static_cast<std::int64_t>(front().size());
    throw FormatError(fmt::format("{} (after {} records)", error.what(), stats_.records));
  }
  stats_.frames = source_->frames();
  return front().size() >= n;
}

void RecordStream::read_metadata() {
  const DbnPrelude prelude = parse_dbn_prelude(front(), name_);
  at_ += kDbnPreludeSize;
  // In steps: a length that lies must not cost its gigabyte.
  std::vector<std::byte> body;
  while (body.size() < prelude.length && fill(1)) {
    const std::size_t n = std::min(front().size(), prelude.length - body.size());
    body.insert(body.end(), at_, at_ + n);
    at_ += n;
  }
  if (body.size() < prelude.length) {
    throw FormatError(fmt::format("{}: ends inside its metadata, at byte {} of {}", name_,
                                  kDbnPreludeSize + body.size(), kDbnPreludeSize + prelude.length));
  }
  metadata_ = parse_dbn_metadata(prelude, body, name_);
  version_ = metadata_.version;
  has_metadata_ = true;
  stats_.bytes = static_cast<std::int64_t>(kDbnPreludeSize + prelude.length);
}

void RecordStream::begin_fragment(int version) {
  if (version == 0) {
    fill(kInferFrom);
    if (!looks_like_fragment(front())) {
      throw FormatError(
          fmt::format("{}: begins neither with DBN metadata nor with a DBN record", name_));
    }
  }
  version_ = version != 0 ? version : infer_version();
  metadata_.version = version_;
}

/// The first record whose size depends on the version tells; else none does.
int RecordStream::infer_version() const {
  auto rest = front().first(std::min(front().size(), kInferFrom));
  while (rest.size() >= kDbnHeaderSize) {
    const Frame frame = frame_at(rest);
    if (frame.size < kDbnHeaderSize || frame.size > rest.size()) break;
    if (const int version = dbn_version_by_size(frame.rtype, frame.size)) return version;
    rest = rest.subspan(frame.size);
  }
  return kNewestDbnVersion;
}

bool RecordStream::next_slowly(RawRecord& record) {
  if (!fill(1)) return end(source_ && source_->truncated());
  const std::size_t size = load<std::uint8_t>(front(), 0) * kDbnLengthUnit;
  if (size < kDbnHeaderSize + ts_out_size_) refuse("record", size, kDbnHeaderSize + ts_out_size_);
  if (!fill(size)) return end(true);
  const int rtype = load<std::uint8_t>(front(), 1);
  int version = version_;
  if (const DbnRecordKind* kind = find_dbn_record_kind(rtype)) {
    version = dbn_layout_version(*kind, size - ts_out_size_, version_);
    const std::size_t least = kind->sizes[static_cast<std::size_t>(version - 1)] + ts_out_size_;
    if (size < least) refuse(kind->name, size, least);
  }
  take(record, size, meet(rtype), version);
  return true;
}

/// From its first record on a type goes the fast way, as far as its size says nothing of its
/// version.
const RecordStream::Kind& RecordStream::meet(int rtype) {
  Kind& known = kinds_[static_cast<std::size_t>(rtype)];
  if (known.count != nullptr) return known;
  known.count = &stats_.by_rtype[rtype];
  const DbnRecordKind* kind = find_dbn_record_kind(rtype);
  std::size_t least = kDbnHeaderSize;
  bool one_layout = true;
  if (kind != nullptr) {
    least = kind->sizes[static_cast<std::size_t>(version_ - 1)];
    one_layout = kind->sizes.front() == kind->sizes.back();
  }
  known.least = static_cast<std::uint16_t>(least + ts_out_size_);
  known.most = one_layout ? std::numeric_limits<std::uint16_t>::max() : known.least;
  return known;
}

bool RecordStream::end(bool truncated) {
  stats_.truncated = truncated;
  stats_.rest_bytes = static_cast<std::int64_t>(front().size());
  if (truncated && strict_) {
    throw DataError(fmt::format("{}: truncated at byte {} after {} records, {} bytes of the next",
                                name_, stats_.bytes, stats_.records, stats_.rest_bytes));
  }
  return false;
}

void RecordStream::refuse(std::string_view kind, std::size_t size, std::size_t least) {
  stats_.rest_bytes = static_cast<std::int64_t>(front().size());
  throw FormatError(
      fmt::format("{}: byte {}: a {} of {} bytes; {} or more are possible (after {} "
                  "records)",
                  name_, stats_.bytes, kind, size, least, stats_.records));
}

void RecordStream::pass_over(const RawRecord& record) {
  --stats_.records;
  ++stats_.skipped_by_rtype[record.rtype];
}

RecordStream open_stream(const std::filesystem::path& path, const StreamOptions& options) {
  return RecordStream(open_bytes(path), options);
}

bool looks_like_fragment(std::span<const std::byte> front) {
  if (front.size() < kDbnHeaderSize) return false;
  const Frame first = frame_at(front);
  if (!is_plausible_dbn_record(first.rtype, first.size)) return false;
  if (front.size() < first.size + kDbnHeaderSize) return true;
  const Frame second = frame_at(front.subspan(first.size));
  return is_plausible_dbn_record(second.rtype, second.size);
}

}  // namespace foxhunt::market::dbn
