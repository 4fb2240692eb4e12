#include "foxhunt/market/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "foxhunt/base/error.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t kChunk = std::size_t{128} << 10;
constexpr std::uint32_t kFrameMagic = 0xFD2FB528;
constexpr std::uint32_t kSkippableMagic = 0x184D2A50;  // the last four bits are free
constexpr std::size_t kMagicSize = 4;
constexpr std::size_t kSkippableHead = 8;  // magic and length
constexpr std::size_t kMostFrameHead = 18;
constexpr std::size_t kLeastFrameHead = 5;
constexpr std::size_t kBlockHead = 3;

bool is_frame(std::uint32_t magic) { return magic == kFrameMagic; }
bool is_skippable(std::uint32_t magic) { return (magic & 0xFFFFFFF0U) == kSkippableMagic; }

/// Whether one to three bytes at the end of the input are the beginning of a magic.
bool starts_like_a_frame(std::span<const std::byte> rest) {
  static constexpr std::byte kTail[2][2] = {{std::byte{0xB5}, std::byte{0x2F}},   // 28 B5 2F FD
                                            {std::byte{0x2A}, std::byte{0x4D}}};  // 5x 2A 4D 18
  const bool skippable = (rest[0] & std::byte{0xF0}) == std::byte{0x50};
  if (!skippable && rest[0] != std::byte{0x28}) return false;
  return std::equal(rest.begin() + 1, rest.end(), kTail[skippable ? 1 : 0]);
}

std::uint32_t load_u32(const std::byte* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

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

/// The stored bytes, a chunk at a time, with a look ahead of up to a chunk.
class Chunk {
 public:
  explicit Chunk(std::unique_ptr<ByteInput> input) : input_(std::move(input)), bytes_(kChunk) {}

  std::size_t size() const { return end_ - begin_; }
  const std::byte* data() const { return bytes_.data() + begin_; }
  std::uint64_t offset() const { return offset_; }  ///< of data() in the file
  void take(std::size_t n) {
    begin_ += n;
    offset_ += n;
  }
  /// Reads until `n` bytes lie here or the input is over; true where they do.
  bool want(std::size_t n) {
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
  /// What comes next without a copy in between, where nothing is kept here and `out` is large.
  std::size_t read_past(std::span<std::byte> out) {
    if (size() != 0 || over_ || out.size() < kChunk) return 0;
    const std::size_t got = input_->read(out);
    over_ = got == 0;
    offset_ += got;
    return got;
  }

 private:
  std::unique_ptr<ByteInput> input_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  bool over_ = false;
};

class PlainSource final : public ByteSource {
 public:
  PlainSource(Chunk chunk, std::string name) : chunk_(std::move(chunk)), name_(std::move(name)) {}

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
  Chunk chunk_;
  std::string name_;
};

class ZstdSource final : public ByteSource {
 public:
  ZstdSource(Chunk chunk, std::string name)
      : chunk_(std::move(chunk)), name_(std::move(name)), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

  std::size_t read(std::span<std::byte> out) override { return read(out, out.size()); }
  std::size_t read_some(std::span<std::byte> out) override {
    return read(out, std::min<std::size_t>(out.size(), 1));
  }
  bool truncated() const override { return truncated_; }
  std::int64_t frames() const override { return frames_; }
  const std::string& name() const override { return name_; }

 private:
  enum class State { kBetweenFrames, kInFrame, kInSkippable };
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  /// Stops as soon as `least` bytes are there.
  std::size_t read(std::span<std::byte> out, std::size_t least) {
    if (!failure_.empty()) throw FormatError(failure_);
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    while (target.pos < least && !over_) {
      if (state_ == State::kBetweenFrames && !begin_frame()) break;
      decode(target);
    }
    return target.pos;
  }

  /// Looks at what follows; false at the end of the input.
  bool begin_frame() {
    if (!chunk_.want(kMagicSize)) {
      truncated_ = chunk_.size() != 0;
      if (truncated_ && !starts_like_a_frame({chunk_.data(), chunk_.size()})) fail(kNoFrame);
      over_ = true;
      return false;
    }
    const std::uint32_t magic = load_u32(chunk_.data());
    if (is_skippable(magic)) {
      refuse_dbz();
      state_ = State::kInSkippable;
    } else if (is_frame(magic)) {
      state_ = State::kInFrame;
      chunk_.want(kMostFrameHead);
      declared_ = ZSTD_getFrameContentSize(chunk_.data(), chunk_.size());
      produced_ = 0;
    } else {
      fail(kNoFrame);
    }
    return true;
  }

  void refuse_dbz() {
    if (!chunk_.want(kSkippableHead + 3)) return;
    if (std::memcmp(chunk_.data() + kSkippableHead, "DBZ", 3) == 0) {
      fail("legacy DBZ, which is not read: convert it with the dbn tool first");
    }
  }

  void decode(ZSTD_outBuffer& target) {
    // One block a call: what stands in front of a damaged block has then been delivered. zstd asks
    // for a block with the next one's head, which may be the damaged one or not be written yet.
    const std::size_t wanted = asked_ > kBlockHead ? asked_ - kBlockHead : asked_;
    const std::size_t feed = std::clamp<std::size_t>(wanted, 1, kChunk);
    // A full output may have left bytes inside the decoder: they come before waiting for input.
    const bool more =
        std::exchange(holds_output_, false) || chunk_.want(feed) || chunk_.size() != 0;
    ZSTD_inBuffer source{chunk_.data(), std::min(chunk_.size(), feed), 0};
    const std::size_t before = target.pos;
    const std::size_t result = ZSTD_decompressStream(stream_.get(), &target, &source);
    chunk_.take(source.pos);
    holds_output_ = target.pos == target.size;
    if (ZSTD_isError(result) != 0) fail(ZSTD_getErrorName(result));
    asked_ = result != 0 ? result : kLeastFrameHead;
    produced_ += target.pos - before;
    if (result == 0) {
      // libzstd checks this only where it decodes a frame in one call.
      if (state_ == State::kInFrame && declared_ < ZSTD_CONTENTSIZE_ERROR &&
          produced_ != declared_) {
        fail(fmt::format("holds {} bytes, but says {}", produced_, declared_));
      }
      frames_ += state_ == State::kInFrame ? 1 : 0;
      state_ = State::kBetweenFrames;
      stalls_ = 0;
      return;
    }
    const bool moved = source.pos != 0 || target.pos != before;
    if (!more && !moved) {
      over_ = truncated_ = true;
      return;
    }
    // libzstd may need a call that only turns its own wheels, never several in a row.
    stalls_ = moved ? 0 : stalls_ + 1;
    if (stalls_ > kMaxStalls) fail("the decoder makes no progress");
  }

  [[noreturn]] void fail(std::string_view what) {
    failure_ = fmt::format("{}: zstd frame {} (compressed offset {}): {}", name_, frames_ + 1,
                           chunk_.offset(), what);
    throw FormatError(failure_);
  }

  static constexpr int kMaxStalls = 8;
  static constexpr std::string_view kNoFrame = "bytes that are no zstd frame";

  Chunk chunk_;
  std::string name_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  State state_ = State::kBetweenFrames;
  std::int64_t frames_ = 0;
  unsigned long long declared_ = ZSTD_CONTENTSIZE_UNKNOWN;  ///< by the frame's head; or no size
  unsigned long long produced_ = 0;                         ///< of the frame
  std::size_t asked_ = kLeastFrameHead;                     ///< bytes that zstd says it needs next
  int stalls_ = 0;
  bool holds_output_ = false;  ///< perhaps
  bool over_ = false;
  bool truncated_ = false;
  std::string failure_;
};

std::unique_ptr<ByteSource> wrap(std::unique_ptr<ByteInput> input, std::string name) {
  Chunk chunk(std::move(input));
  if (chunk.want(kMagicSize)) {
    const std::uint32_t magic = load_u32(chunk.data());
    if (is_frame(magic) || is_skippable(magic)) {
      return std::make_unique<ZstdSource>(std::move(chunk), std::move(name));
    }
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

std::span<const std::byte> PeekSource::extend(std::size_t n, bool whole) {
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  const std::size_t have = ahead_.size();
  if (have < n) {
    ahead_.resize(n);
    std::size_t got = 0;
    try {
      const auto room = std::span(ahead_).subspan(have);
      got = whole ? source_->read(room) : source_->read_some(room);
    } catch (...) {
      ahead_.resize(have);
      throw;
    }
    ahead_.resize(have + got);
  }
  return std::span<const std::byte>(ahead_).first(std::min(n, ahead_.size()));
}

std::span<const std::byte> PeekSource::peek(std::size_t n) { return extend(n, true); }
std::span<const std::byte> PeekSource::peek_more(std::size_t n) { return extend(n, false); }

std::size_t PeekSource::read(std::span<std::byte> out) {
  const std::size_t n = take_ahead(out);
  return n == out.size() ? n : n + source_->read(out.subspan(n));
}

std::size_t PeekSource::read_some(std::span<std::byte> out) {
  const std::size_t n = take_ahead(out);
  return n != 0 ? n : source_->read_some(out);
}

std::size_t PeekSource::take_ahead(std::span<std::byte> out) {
  const std::size_t n = std::min(out.size(), ahead_.size() - taken_);
  std::copy_n(ahead_.begin() + static_cast<std::ptrdiff_t>(taken_), n, out.begin());
  taken_ += n;
  return n;
}

}  // namespace foxhunt::market
