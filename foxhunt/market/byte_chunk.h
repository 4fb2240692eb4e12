#pragma once
// The stored bytes of a source, a chunk at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "foxhunt/market/byte_source.h"

namespace foxhunt::market {

/// Looks ahead by up to a chunk, 128 KiB: zstd's largest block. Errors of all calls  IoError.
class ByteChunk {
 public:
  static constexpr std::size_t kSize = std::size_t{128} << 10;

  explicit ByteChunk(std::unique_ptr<ByteInput> input) : input_(std::move(input)), bytes_(kSize) {}

  std::size_t size() const { return end_ - begin_; }
  const std::byte* data() const { return bytes_.data() + begin_; }
  std::uint64_t offset() const { return offset_; }  ///< of data() in the file
  void take(std::size_t n) {
    begin_ += n;
    offset_ += n;
  }
  /// Reads until `n` bytes lie here or the input is over; true where they do.
  bool want(std::size_t n);
  /// What comes next without a copy in between, where nothing is kept here and `out` is large.
  std::size_t read_past(std::span<std::byte> out);

 private:
  std::unique_ptr<ByteInput> input_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  bool over_ = false;
};

}  // namespace foxhunt::market
