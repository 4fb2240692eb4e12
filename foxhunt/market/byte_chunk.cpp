#include "foxhunt/market/byte_chunk.h"

#include <cstring>

namespace foxhunt::market {

bool ByteChunk::want(std::size_t n) {
  if (size() < n && begin_ != 0) {
    std::memmove(bytes_.data(), data(), size());
    end_ -= begin_;
    begin_ = 0;
  }
  while (size() < n && !over_) {
    const std::size_t got = input_->read(std::span(bytes_).subspan(end_));
    over_ = got == 0;
    end_ += got;
  }
  return size() >= n;
}

std::size_t ByteChunk::read_past(std::span<std::byte> out) {
  if (size() != 0 || over_ || out.size() < kSize) return 0;
  const std::size_t got = input_->read(out);
  over_ = got == 0;
  offset_ += got;
  return got;
}

}  // namespace foxhunt::market
