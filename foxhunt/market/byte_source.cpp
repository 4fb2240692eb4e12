#include "foxhunt/market/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/market/byte_chunk.h"
#include "foxhunt/market/span_ring.h"
#include "foxhunt/market/zstd_source.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t kMostMagic = 4;

class FileInput final : public ByteInput {
 public:
  explicit FileInput(const std::filesystem::path& path)
      : name_(path.string()), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0)
      throw IoError(fmt::format("{}: cannot be opened: {}", name_, std::strerror(errno)));
  }
  ~FileInput() override { ::close(fd_); }
  FileInput(const FileInput&) = delete;
  FileInput& operator=(const FileInput&) = delete;

  std::size_t read(std::span<std::byte> out) override {
    for (;;) {
      const ssize_t got = ::read(fd_, out.data(), out.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) {
        throw IoError(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
      }
    }
  }

 private:
  std::string name_;
  int fd_;
};

class MemoryInput final : public ByteInput {
 public:
  explicit MemoryInput(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t read(std::span<std::byte> out) override {
    const std::size_t n = std::min(out.size(), bytes_.size() - at_);
    if (n != 0) std::memcpy(out.data(), bytes_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

class PlainSource final : public ByteSource {
 public:
  PlainSource(ByteChunk chunk, std::string name)
      : chunk_(std::move(chunk)), name_(std::move(name)) {}

  std::size_t read(std::span<std::byte> out) override {
    std::size_t done = 0;
    while (done < out.size() && chunk_.want(1)) {
      const std::size_t n = std::min(out.size() - done, chunk_.size());
      std::memcpy(out.data() + done, chunk_.data(), n);
      chunk_.take(n);
      done += n;
    }
    return done;
  }
  std::size_t read_some(std::span<std::byte> out) override {
    if (const std::size_t got = chunk_.read_past(out)) return got;
    if (out.empty() || !chunk_.want(1)) return 0;
    const std::size_t n = std::min(out.size(), chunk_.size());
    std::memcpy(out.data(), chunk_.data(), n);
    chunk_.take(n);
    return n;
  }
  bool truncated() const override { return false; }
  std::int64_t frames() const override { return 0; }
  const std::string& name() const override { return name_; }

 private:
  ByteChunk chunk_;
  std::string name_;
};

std::unique_ptr<ByteSource> wrap(std::unique_ptr<ByteInput> input, std::string name) {
  ByteChunk chunk(std::move(input));
  chunk.want(kMostMagic);
  if (starts_like_zstd({chunk.data(), chunk.size()})) {
    return unzstd(std::move(chunk), std::move(name));
  }
  return std::make_unique<PlainSource>(std::move(chunk), std::move(name));
}

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path) {
  return wrap(std::make_unique<FileInput>(path), path.string());
}

std::unique_ptr<ByteSource> open_bytes(std::unique_ptr<ByteInput> input, std::string name) {
  return wrap(std::move(input), std::move(name));
}

std::unique_ptr<ByteSource> memory_bytes(std::string bytes, std::string name) {
  return wrap(std::make_unique<MemoryInput>(std::move(bytes)), std::move(name));
}

ByteSource::ByteSource() = default;
ByteSource::~ByteSource() = default;

std::span<const std::byte> ByteSource::more(std::span<const std::byte> rest) {
  if (!ring_) {
    ring_ = std::make_unique<SpanRing>();
    ring_->reserve(0, ByteChunk::kSize);
  }
  const std::size_t got = read_some(ring_->room(rest.size()).first(ByteChunk::kSize));
  return got == 0 ? rest : ring_->join(rest, got);
}

std::span<const std::byte> PeekSource::peek(std::size_t n) {
  for (std::size_t had = 0; held_.size() < n; had = held_.size()) {
    held_ = source_->more(held_);
    if (held_.size() == had) break;
  }
  return held_.first(std::min(n, held_.size()));
}

std::span<const std::byte> PeekSource::peek_more(std::size_t n) {
  if (held_.size() < n) held_ = source_->more(held_);
  return held_.first(std::min(n, held_.size()));
}

std::size_t PeekSource::read(std::span<std::byte> out) {
  const std::size_t n = take_held(out);
  return n == out.size() ? n : n + source_->read(out.subspan(n));
}

std::size_t PeekSource::read_some(std::span<std::byte> out) {
  const std::size_t n = take_held(out);
  return n != 0 ? n : source_->read_some(out);
}

std::span<const std::byte> PeekSource::more(std::span<const std::byte> rest) {
  if (!held_.empty()) return std::exchange(held_, {});
  return source_->more(rest);
}

std::size_t PeekSource::take_held(std::span<std::byte> out) {
  const std::size_t n = std::min(out.size(), held_.size());
  std::copy_n(held_.begin(), n, out.begin());
  held_ = held_.subspan(n);
  return n;
}

}  // namespace foxhunt::market
