#define ZSTD_STATIC_LINKING_ONLY  // the calls that decode block by block
#include "foxhunt/market/zstd_source.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/market/span_ring.h"

namespace foxhunt::market {
namespace {

constexpr std::uint32_t kFrameMagic = 0xFD2FB528;
constexpr std::uint32_t kSkippableMagic = 0x184D2A50;  // the last four bits are free
constexpr std::size_t kMagicSize = 4;
constexpr std::size_t kSkippableHead = 8;  // magic and length
constexpr std::size_t kMostFrameHead = 18;
constexpr unsigned long long kLeastWindow = 1 << 10;
constexpr unsigned long long kMostWindow = 128ULL << 20;
constexpr std::string_view kNoFrame = "bytes that are no zstd frame";

std::uint32_t load_u32(const std::byte* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool is_frame(std::uint32_t magic) { return magic == kFrameMagic; }
bool is_skippable(std::uint32_t magic) { return (magic & 0xFFFFFFF0U) == kSkippableMagic; }

/// Whether one to three bytes at the end of the input are the beginning of a magic.
bool may_become_a_frame(std::span<const std::byte> rest) {
  static constexpr std::byte kTail[2][2] = {{std::byte{0xB5}, std::byte{0x2F}},   // 28 B5 2F FD
                                            {std::byte{0x2A}, std::byte{0x4D}}};  // 5x 2A 4D 18
  const bool skippable = (rest[0] & std::byte{0xF0}) == std::byte{0x50};
  if (!skippable && rest[0] != std::byte{0x28}) return false;
  return std::equal(rest.begin() + 1, rest.end(), kTail[skippable ? 1 : 0]);
}

/// How far back a frame looks: a byte of its head says it, or it is its content (RFC 8878, 3.1.1).
unsigned long long window_of(const std::byte* head, unsigned long long content) {
  constexpr unsigned kSingleSegment = 1U << 5U;
  if ((std::to_integer<unsigned>(head[kMagicSize]) & kSingleSegment) != 0) return content;
  const auto descriptor = std::to_integer<unsigned>(head[kMagicSize + 1]);
  const unsigned long long base = kLeastWindow << (descriptor >> 3U);
  return base + base / 8 * (descriptor & 7U);
}

class ZstdSource final : public ByteSource {
 public:
  ZstdSource(ByteChunk chunk, std::string name)
      : chunk_(std::move(chunk)), name_(std::move(name)), context_(ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc();
  }

  std::size_t read(std::span<std::byte> out) override { return read(out, out.size()); }
  std::size_t read_some(std::span<std::byte> out) override {
    return read(out, std::min<std::size_t>(out.size(), 1));
  }
  std::span<const std::byte> more(std::span<const std::byte> rest) override {
    if (!pending_.empty()) return std::exchange(pending_, {});
    const std::size_t size = decode(rest.size());
    return size == 0 ? rest : ring_.join(rest, size);
  }
  bool truncated() const override { return truncated_; }
  std::int64_t frames() const override { return frames_; }
  const std::string& name() const override { return name_; }

 private:
  enum class State { kBetweenFrames, kInFrame, kInSkippable, kOver };
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  /// Stops as soon as `least` bytes are there.
  std::size_t read(std::span<std::byte> out, std::size_t least) {
    std::size_t done = 0;
    while (done < least) {
      if (pending_.empty()) pending_ = more({});
      if (pending_.empty()) break;
      const std::size_t n = std::min(out.size() - done, pending_.size());
      std::memcpy(out.data() + done, pending_.data(), n);
      pending_ = pending_.subspan(n);
      done += n;
    }
    return done;
  }

  /// The next block that holds anything goes to ring_.room(kept): its size, 0 at the end.
  std::size_t decode(std::size_t kept) {
    if (!failure_.empty()) throw FormatError(failure_);
    while (state_ != State::kOver) {
      if (state_ == State::kBetweenFrames) {
        begin_frame();
      } else if (state_ == State::kInSkippable) {
        skip();
      } else if (const std::size_t size = step(kept)) {
        return size;
      }
    }
    return 0;
  }

  void begin_frame() {
    if (!chunk_.want(kMagicSize)) {
      const std::span rest(chunk_.data(), chunk_.size());
      if (!rest.empty() && !may_become_a_frame(rest)) fail(kNoFrame);
      end(!rest.empty());
      return;
    }
    const std::uint32_t magic = load_u32(chunk_.data());
    if (is_skippable(magic)) {
      refuse_dbz();
      begin_skippable();
    } else if (is_frame(magic)) {
      begin_data();
    } else {
      fail(kNoFrame);
    }
  }

  void refuse_dbz() {
    if (!chunk_.want(kSkippableHead + 3)) return;
    if (std::memcmp(chunk_.data() + kSkippableHead, "DBZ", 3) == 0) {
      fail("legacy DBZ, which is not read: convert it with the dbn tool first");
    }
  }

  void begin_skippable() {
    if (!chunk_.want(kSkippableHead)) return end(true);
    to_skip_ = load_u32(chunk_.data() + kMagicSize);
    chunk_.take(kSkippableHead);
    state_ = State::kInSkippable;
  }

  void skip() {
    if (to_skip_ == 0) {
      state_ = State::kBetweenFrames;
      return;
    }
    if (!chunk_.want(1)) return end(true);
    const std::size_t n = std::min<std::size_t>(to_skip_, chunk_.size());
    chunk_.take(n);
    to_skip_ -= static_cast<std::uint32_t>(n);
  }

  void begin_data() {
    ZSTD_decompressBegin(context_.get());
    state_ = State::kInFrame;
    produced_ = 0;
    chunk_.want(kMostFrameHead);
    declared_ = ZSTD_getFrameContentSize(chunk_.data(), chunk_.size());
    if (declared_ == ZSTD_CONTENTSIZE_ERROR) return;  // a cut or bad head: step() finds which
    const auto window = std::max(window_of(chunk_.data(), declared_), kLeastWindow);
    if (window > kMostWindow) {
      fail(fmt::format("a window of {} bytes needs too much memory; {} are the most", window,
                       kMostWindow));
    }
    const auto block = std::min<std::size_t>(window, ZSTD_BLOCKSIZE_MAX);
    ring_.reserve(ZSTD_decodingBufferSize_min(window, ZSTD_CONTENTSIZE_UNKNOWN) - block, block);
  }

  /// One piece of a frame: a head, a block, a checksum. The bytes that it gave.
  std::size_t step(std::size_t kept) {
    ZSTD_DCtx* const context = context_.get();
    const std::size_t wanted = ZSTD_nextSrcSizeToDecompress(context);
    if (wanted == 0) {
      end_frame();
      return 0;
    }
    const auto kind = ZSTD_nextInputType(context);
    const bool block = kind == ZSTDnit_block || kind == ZSTDnit_lastBlock;
    // The bytes of a raw block are its content: where the input ends inside, they are there.
    if (!chunk_.want(wanted) && !(block && raw_ && chunk_.size() != 0)) {
      end(true);
      return 0;
    }
    const std::size_t given = std::min(wanted, chunk_.size());
    if (kind == ZSTDnit_blockHeader) {
      raw_ = (std::to_integer<unsigned>(chunk_.data()[0]) >> 1U & 3U) == 0;
    }
    const std::span<std::byte> room = block ? ring_.room(kept) : std::span<std::byte>();
    const std::size_t size =
        ZSTD_decompressContinue(context, room.data(), room.size(), chunk_.data(), given);
    if (ZSTD_isError(size) != 0) fail(ZSTD_getErrorName(size));
    chunk_.take(given);
    produced_ += size;
    return size;
  }

  void end_frame() {
    // libzstd does not check this where the last block is empty.
    if (declared_ != ZSTD_CONTENTSIZE_UNKNOWN && produced_ != declared_) {
      fail(fmt::format("holds {} bytes, but says {}", produced_, declared_));
    }
    ++frames_;
    state_ = State::kBetweenFrames;
  }

  void end(bool truncated) {
    truncated_ = truncated;
    state_ = State::kOver;
  }

  [[noreturn]] void fail(std::string_view what) {
    failure_ = fmt::format("{}: zstd frame {} (compressed offset {}): {}", name_, frames_ + 1,
                           chunk_.offset(), what);
    throw FormatError(failure_);
  }

  ByteChunk chunk_;
  std::string name_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  SpanRing ring_;
  std::span<const std::byte> pending_;  ///< decoded, for read() to give
  State state_ = State::kBetweenFrames;
  std::int64_t frames_ = 0;
  std::uint32_t to_skip_ = 0;                               ///< of a skippable frame
  unsigned long long declared_ = ZSTD_CONTENTSIZE_UNKNOWN;  ///< by the frame's head; or no size
  unsigned long long produced_ = 0;                         ///< of the frame
  bool raw_ = false;                                        ///< the block holds its bytes as such
  bool truncated_ = false;
  std::string failure_;
};

}  // namespace

bool starts_like_zstd(std::span<const std::byte> front) {
  if (front.size() < kMagicSize) return false;
  const std::uint32_t magic = load_u32(front.data());
  return is_frame(magic) || is_skippable(magic);
}

std::unique_ptr<ByteSource> unzstd(ByteChunk chunk, std::string name) {
  return std::make_unique<ZstdSource>(std::move(chunk), std::move(name));
}

}  // namespace foxhunt::market
