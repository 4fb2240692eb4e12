#include "foxhunt/market/xz_source.h"

#include <fmt/format.h>
#include <lzma.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10U;
constexpr std::uint64_t kMostMemory = std::uint64_t{128} << 20U;
constexpr std::array kMagic{std::byte{0xFD}, std::byte{'7'}, std::byte{'z'},
                            std::byte{'X'},  std::byte{'Z'}, std::byte{0}};

std::string_view meaning(lzma_ret status) {
  switch (status) {
    case LZMA_MEMLIMIT_ERROR:
      return "a dictionary too large";
    case LZMA_FORMAT_ERROR:
      return "bytes that are no xz stream";
    case LZMA_OPTIONS_ERROR:
      return "a filter that is not supported";
    case LZMA_BUF_ERROR:
      return "no progress";
    default:
      return "corrupt xz data";
  }
}

class UnxzSource final : public ByteSource {
 public:
  explicit UnxzSource(std::unique_ptr<PeekSource> source)
      : source_(std::move(source)), input_(kChunk) {
    start();
  }
  ~UnxzSource() override { lzma_end(&stream_); }
  UnxzSource(const UnxzSource&) = delete;
  UnxzSource& operator=(const UnxzSource&) = delete;

  std::size_t read(std::span<std::byte> out) override {
    std::size_t done = 0;
    while (done < out.size() && !ended_) done += unpack(out.subspan(done));
    return done;
  }
  bool truncated() const override { return truncated_ || source_->truncated(); }
  std::int64_t frames() const override { return streams_; }
  const std::string& name() const override { return source_->name(); }

 private:
  void start() {
    const lzma_ret status = lzma_stream_decoder(&stream_, kMostMemory, 0);
    if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (status != LZMA_OK) fail(status);
    inside_ = false;
  }
  [[noreturn]] void fail(lzma_ret status) const {
    throw FormatError(fmt::format("{}: byte {}: {} in xz stream {}", name(),
                                  offset_ - static_cast<std::int64_t>(stream_.avail_in),
                                  meaning(status), streams_ + 1));
  }
  std::size_t unpack(std::span<std::byte> out) {
    if (stream_.avail_in == 0) {
      const std::size_t got = source_->read_some(input_);
      offset_ += static_cast<std::int64_t>(got);
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
      stream_.avail_in = got;
      if (got == 0 && !inside_) {
        ended_ = true;
        return 0;
      }
    }
    const bool at_end = stream_.avail_in == 0;
    inside_ = true;
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
    const std::size_t made = out.size() - stream_.avail_out;
    if (status == LZMA_STREAM_END) {
      ++streams_;
      start();
    } else if (status == LZMA_BUF_ERROR || (status == LZMA_OK && at_end && made == 0)) {
      if (!at_end) fail(LZMA_BUF_ERROR);
      ended_ = truncated_ = true;
    } else if (status != LZMA_OK) {
      fail(status);
    }
    return made;
  }

  std::unique_ptr<PeekSource> source_;
  std::vector<std::byte> input_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  std::int64_t offset_ = 0;  ///< compressed bytes read so far
  std::int64_t streams_ = 0;
  bool inside_ = false;  ///< a stream has begun and not ended
  bool ended_ = false;
  bool truncated_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> unxz(std::unique_ptr<ByteSource> source) {
  auto peeked = std::make_unique<PeekSource>(std::move(source));
  if (!std::ranges::equal(peeked->peek(kMagic.size()), kMagic)) return peeked;
  return std::make_unique<UnxzSource>(std::move(peeked));
}

}  // namespace foxhunt::market
