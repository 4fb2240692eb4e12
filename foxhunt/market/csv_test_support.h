#pragma once
// What the CSV tests share: text as a source of bytes, in pieces of any size, and gzip made by
// zlib.

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "foxhunt/market/byte_source.h"
#include "foxhunt/market/csv_reader.h"

namespace foxhunt::market::test {

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text, bool truncated = false)
      : text_(std::move(text)), truncated_(truncated) {}
  std::size_t read(std::span<std::byte> out) override {
    const std::size_t n = std::min(out.size(), text_.size() - at_);
    std::memcpy(out.data(), text_.data() + at_, n);
    at_ += n;
    return n;
  }
  bool truncated() const override { return truncated_ && at_ == text_.size(); }
  std::int64_t frames() const override { return 0; }
  const std::string& name() const override { return name_; }

 private:
  std::string text_;
  bool truncated_;
  std::size_t at_ = 0;
  std::string name_ = "bars.csv";
};

inline std::unique_ptr<ByteSource> text_source(std::string text, bool truncated = false) {
  return std::make_unique<TextSource>(std::move(text), truncated);
}

inline std::unique_ptr<Reader> csv(std::string text, const CsvFormat& format = {}) {
  return make_csv_reader(text_source(std::move(text)), ReadOptions{.csv = format});
}

/// One gzip member.
inline std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
  std::string input(text);
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// The text of the Error that `action` throws, or "no error".
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace foxhunt::market::test
