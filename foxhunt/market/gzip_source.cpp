#include "foxhunt/market/gzip_source.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10;
constexpr int kGzipWindow = 16 + MAX_WBITS;  // zlib's way to say: gzip header, largest window

class GunzipSource final : public ByteSource {
 public:
  explicit GunzipSource(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), input_(kChunk) {
    while (available_ < 2 && refill()) {
    }
    packed_ = available_ >= 2 && input_[0] == std::byte{0x1F} && input_[1] == std::byte{0x8B};
    if (packed_ && inflateInit2(&stream_, kGzipWindow) != Z_OK) throw std::bad_alloc();
  }
  ~GunzipSource() override {
    if (packed_) inflateEnd(&stream_);
  }
  GunzipSource(const GunzipSource&) = delete;
  GunzipSource& operator=(const GunzipSource&) = delete;

  std::size_t read(std::span<std::byte> out) override { return read(out, out.size()); }
  std::size_t read_some(std::span<std::byte> out) override {
    return read(out, std::min<std::size_t>(out.size(), 1));
  }
  bool truncated() const override { return truncated_ || source_->truncated(); }
  std::int64_t frames() const override { return packed_ ? members_ : source_->frames(); }
  const std::string& name() const override { return source_->name(); }

 private:
  /// Stops as soon as `least` bytes are there.
  std::size_t read(std::span<std::byte> out, std::size_t least) {
    std::size_t done = 0;
    while (done < least) {
      // A full output may have left bytes inside zlib: they come before waiting for input.
      if (available_ == 0 && !holds_output_ && !refill()) {
        truncated_ = inside_;
        break;
      }
      done += packed_ ? unpack(out.subspan(done)) : copy(out.subspan(done));
    }
    return done;
  }

  /// Reads behind what is there; false at the end.
  bool refill() {
    if (available_ == 0) taken_ = 0;
    const std::size_t got = source_->read_some(std::span(input_).subspan(taken_ + available_));
    available_ += got;
    offset_ += static_cast<std::int64_t>(got);
    return got != 0;
  }

  std::size_t copy(std::span<std::byte> out) {
    const std::size_t n = std::min(out.size(), available_);
    std::memcpy(out.data(), input_.data() + taken_, n);
    taken_ += n;
    available_ -= n;
    return n;
  }

  std::size_t unpack(std::span<std::byte> out) {
    inside_ = inside_ || available_ != 0;
    const bool had_output = std::exchange(holds_output_, false);
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data() + taken_);
    stream_.avail_in = static_cast<uInt>(available_);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    const auto room = static_cast<uInt>(std::min<std::size_t>(out.size(), kChunk));
    stream_.avail_out = room;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    const std::size_t used = available_ - stream_.avail_in;
    const std::size_t made = room - stream_.avail_out;
    taken_ += used;
    available_ -= used;
    holds_output_ = made == room;
    if (status == Z_STREAM_END) {
      holds_output_ = false;
      ++members_;
      inside_ = false;
      inflateReset(&stream_);
    } else if (had_output && status == Z_BUF_ERROR && used == 0 && made == 0) {
      // Nothing was left inside.
    } else if (status != Z_OK || (used == 0 && made == 0)) {
      throw FormatError(fmt::format("{}: byte {}: corrupt gzip data in member {} ({})", name(),
                                    offset_ - static_cast<std::int64_t>(available_), members_ + 1,
                                    stream_.msg != nullptr ? stream_.msg : "no progress"));
    }
    return made;
  }

  std::unique_ptr<ByteSource> source_;
  std::vector<std::byte> input_;
  std::size_t taken_ = 0;
  std::size_t available_ = 0;
  std::int64_t offset_ = 0;  ///< compressed bytes read so far
  z_stream stream_{};
  bool packed_ = false;
  bool holds_output_ = false;  ///< perhaps
  bool inside_ = false;        ///< a member has begun and not ended
  bool truncated_ = false;
  std::int64_t members_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> source) {
  return std::make_unique<GunzipSource>(std::move(source));
}

}  // namespace foxhunt::market
