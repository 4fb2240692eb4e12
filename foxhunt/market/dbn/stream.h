#pragma once
// The one framing of DBN, versions 1 to 3: metadata, then raw records one behind another.
//
// Framing depends on a record's length byte alone, so every type passes, known or not. Input that
// is cut short delivers what is whole and says how much was left; damage is an error with its byte
// offset, and what was counted until there stays.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "foxhunt/market/byte_source.h"
#include "foxhunt/market/dbn/raw_record.h"
#include "foxhunt/market/dbn_metadata.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::market::dbn {

struct StreamOptions {
  int version = 0;      ///< of a stream without metadata: 1 to 3; 0: infer it from record sizes
  bool strict = false;  ///< an input that is cut short is a DataError
};

class RecordStream {
 public:
  /// Reads the metadata. Without it the version is options.version, or else inferred from the
  /// records in the first 64 KiB (it waits for them or for the end).
  /// Errors  FormatError naming the source: neither metadata nor a record at the front, a version
  ///         over 3, metadata that is cut short or breaks a rule; ConfigError: options.version.
  explicit RecordStream(std::unique_ptr<ByteSource> source, const StreamOptions& options = {});
  /// The same over bytes that lie in memory (a mapped file): nothing is copied.
  /// Lifetime  `bytes` outlive the stream and every record.
  RecordStream(std::span<const std::byte> bytes, std::string name,
               const StreamOptions& options = {});

  /// The next record; false at the end (and at every later call).
  /// Errors    FormatError with the byte offset: a length below the header's, a record shorter than
  ///           its type; a damaged container. Every later call throws the same. DataError where
  ///           the input is cut short and options.strict.
  /// Lifetime  record.bytes until the next call; over bytes in memory as long as those.
  /// Cost      O(1), no allocation; a read of the source for every 128 KiB or so.
  bool next(RawRecord& record) {
    const auto left = static_cast<std::size_t>(end_ - at_);
    if (left >= kHeaderSize) [[likely]] {
      const std::size_t size = std::to_integer<std::size_t>(at_[0]) * kLengthUnit;
      const Kind& kind = kinds_[std::to_integer<std::size_t>(at_[1])];
      if (size <= left && size >= kind.least && size <= kind.most) [[likely]] {
        take(record, size, kind, version_);
        return true;
      }
    }
    return next_slowly(record);
  }

  /// Counts the record that next() gave last as skipped, not as handed out.
  void pass_over(const RawRecord& record);

  const DbnMetadata& metadata() const { return metadata_; }
  bool has_metadata() const { return has_metadata_; }
  /// Of the stream: that of its metadata, else the one given or inferred.
  int version() const { return version_; }
  const ReadStats& stats() const { return stats_; }
  const std::string& name() const { return name_; }  ///< for messages

 private:
  static constexpr std::size_t kHeaderSize = 16;
  static constexpr std::size_t kLengthUnit = 4;

  /// What the fast way needs of a type. Until it is first seen no size fits.
  struct Kind {
    std::uint16_t least = 1;  ///< framed bytes that need no second look
    std::uint16_t most = 0;
    std::int64_t* count = nullptr;  ///< in stats_.by_rtype, whose nodes stay where they are
  };

  void take(RawRecord& record, std::size_t size, const Kind& kind, int version) {
    record.bytes = {at_, size - ts_out_size_};
    record.rtype = std::to_integer<int>(at_[1]);
    record.version = version;
    record.offset = static_cast<std::uint64_t>(stats_.bytes);
    record.ts_out.reset();
    if (ts_out_size_ != 0) record.ts_out = send_time(size);
    at_ += size;
    stats_.bytes += static_cast<std::int64_t>(size);
    ++stats_.records;
    ++*kind.count;
  }
  std::uint64_t send_time(std::size_t size) const {
    std::uint64_t time = 0;
    std::memcpy(&time, at_ + size - sizeof time, sizeof time);
    return time;
  }
  bool next_slowly(RawRecord& record);
  const Kind& meet(int rtype);
  bool fill(std::size_t n);
  std::span<const std::byte> front() const { return {at_, end_}; }
  void begin(const StreamOptions& options);
  void read_metadata();
  void begin_fragment(int version);
  int infer_version() const;
  bool end(bool truncated);
  [[noreturn]] void refuse(std::string_view kind, std::size_t size, std::size_t least);

  const std::byte* at_ = nullptr;   ///< next record
  const std::byte* end_ = nullptr;  ///< of the bytes that are here
  std::array<Kind, 256> kinds_{};
  std::size_t ts_out_size_ = 0;
  int version_ = 0;
  bool strict_ = false;
  bool has_metadata_ = false;
  ReadStats stats_;
  DbnMetadata metadata_;
  std::string name_;
  std::unique_ptr<ByteSource> source_;  ///< none over bytes in memory
};

/// A file, plain or zstd. Errors  IoError; as RecordStream.
RecordStream open_stream(const std::filesystem::path& path, const StreamOptions& options = {});

/// Whether the bytes at the front of a stream are records without metadata: the first record, and
/// the second where its header is there, have a known type and exactly a size it may have.
bool looks_like_fragment(std::span<const std::byte> front);

}  // namespace foxhunt::market::dbn
