#pragma once
// Bytes of a file, plain or zstd (any number of frames), as one forward stream in flat memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace foxhunt::market {

/// Where stored bytes come from: a file, a pipe, memory.
class ByteInput {
 public:
  virtual ~ByteInput() = default;
  /// What there is, at least one byte; waits for it. 0 only at the end. Errors  IoError.
  virtual std::size_t read(std::span<std::byte> out) = 0;
};

class SpanRing;

/// Read either by read() and read_some() or by more(): what more() gave, the others do not.
class ByteSource {
 public:
  ByteSource();
  virtual ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Fills as much of `out` as there is; less than out.size() only at the end of the stream.
  /// Errors  FormatError with file and compressed offset: corrupt frame, bytes behind a frame that
  ///         are no frame, decoder without progress (every later call throws the same); IoError.
  virtual std::size_t read(std::span<std::byte> out) = 0;
  /// What there is without waiting for more: at least one byte, 0 only at the end of the stream (or
  /// where `out` is empty). Of a pipe this is what its writer has written so far. Errors  as
  /// read().
  virtual std::size_t read_some(std::span<std::byte> out) { return read(out); }
  /// The bytes where they lie: `rest`, and behind it in one piece what there is without waiting for
  /// more, at least one byte; only `rest` at the end. zstd frames come a block a call.
  /// `rest`    the last bytes of the span that this gave before, at most 64 KiB; or none.
  /// Errors    as read(); `rest` then stays where it is.
  /// Lifetime  until the next call.
  /// Cost      nothing but decoding; `rest` is copied once in a window (of a source without blocks
  ///           of its own, in 128 KiB).
  virtual std::span<const std::byte> more(std::span<const std::byte> rest);
  /// The input ended inside a zstd frame (what was whole has been delivered).
  virtual bool truncated() const = 0;
  /// zstd frames completed; 0 for a plain file. Skippable frames do not count.
  virtual std::int64_t frames() const = 0;
  virtual const std::string& name() const = 0;  ///< for messages

 private:
  std::unique_ptr<SpanRing> ring_;  ///< of more(), where no other class has its own
};

/// Looks at the first bytes: zstd magic or plain. Skippable zstd frames are passed over, except
/// DBZ's, which is refused by name. Memory: zstd's window and 640 KiB (frames that ask for a window
/// over 128 MiB are refused); of a plain file 512 KiB.
/// Errors  IoError, FormatError.
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path);

/// The same of an input that someone else has opened; `name` stands in messages.
std::unique_ptr<ByteSource> open_bytes(std::unique_ptr<ByteInput> input, std::string name);

/// The same over bytes in memory; `name` stands in messages.
std::unique_ptr<ByteSource> memory_bytes(std::string bytes, std::string name);

/// A source whose first bytes can be looked at before they are read.
class PeekSource final : public ByteSource {
 public:
  explicit PeekSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  /// The next `n` bytes, at most 64 KiB, without taking them; fewer only at the end of the stream.
  /// Errors    as read().
  /// Lifetime  valid until the next call.
  std::span<const std::byte> peek(std::size_t n);
  /// What can be looked at after one more read of the source, where fewer than `n` bytes were there
  /// before: at most `n`, the same as before only at the end of the stream. Errors, lifetime  as
  /// peek().
  std::span<const std::byte> peek_more(std::size_t n);

  std::size_t read(std::span<std::byte> out) override;
  std::size_t read_some(std::span<std::byte> out) override;
  std::span<const std::byte> more(std::span<const std::byte> rest) override;
  bool truncated() const override { return source_->truncated(); }
  std::int64_t frames() const override { return source_->frames(); }
  const std::string& name() const override { return source_->name(); }

 private:
  std::size_t take_held(std::span<std::byte> out);

  std::unique_ptr<ByteSource> source_;
  std::span<const std::byte> held_;  ///< that the source's more() gave
};

}  // namespace foxhunt::market
