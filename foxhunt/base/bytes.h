#pragma once
// Plain values as little-endian bytes and back, for files that this project writes itself (states
// of streams). Every read is checked.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt {

static_assert(std::endian::native == std::endian::little);

/// Appends. A value is written as it lies in memory; texts and lists with their length in front.
class ByteWriter {
 public:
  template <class T>
  void value(const T& v) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    append(&v, sizeof v);
  }
  template <class T>
  void list(std::span<const T> values) {
    static_assert(std::is_arithmetic_v<T>);
    value(static_cast<std::uint64_t>(values.size()));
    append(values.data(), values.size_bytes());
  }
  void text(std::string_view v) { list(std::span<const char>(v)); }

  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(const void* from, std::size_t size) {
    const auto* p = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), p, p + size);
  }
  std::vector<std::byte> bytes_;
};

/// Reads in the order of writing. Errors  FormatError naming `origin`, the byte and the rule: the
/// bytes end early, a list is not of the size that is expected, bytes remain at the end.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string origin)
      : bytes_(bytes), origin_(std::move(origin)) {}

  template <class T>
  T value() {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    T v;
    std::memcpy(&v, need(sizeof v), sizeof v);
    return v;
  }
  /// A list of exactly out.size() values.
  template <class T>
  void list(std::span<T> out) {
    static_assert(std::is_arithmetic_v<T>);
    const auto size = value<std::uint64_t>();
    if (size != out.size()) {
      fail("a list of " + std::to_string(size) + " values, expected " + std::to_string(out.size()));
    }
    if (!out.empty()) std::memcpy(out.data(), need(out.size_bytes()), out.size_bytes());
  }
  /// At most `most` bytes.
  std::string text(std::size_t most = 1U << 16U) {
    const auto size = value<std::uint64_t>();
    if (size > most) fail("a text of " + std::to_string(size) + " bytes");
    const auto* p = static_cast<const char*>(need(static_cast<std::size_t>(size)));
    return {p, static_cast<std::size_t>(size)};
  }
  void finish() const {
    if (at_ != bytes_.size()) fail(std::to_string(bytes_.size() - at_) + " bytes too many");
  }
  [[noreturn]] void fail(const std::string& rule) const {
    throw FormatError(origin_ + ": byte " + std::to_string(at_) + ": " + rule);
  }
  std::size_t position() const { return at_; }

 private:
  const void* need(std::size_t size) {
    if (size > bytes_.size() - at_) {
      fail("needs " + std::to_string(size) + " bytes, " + std::to_string(bytes_.size() - at_) +
           " are left");
    }
    const void* p = bytes_.data() + at_;
    at_ += size;
    return p;
  }
  std::span<const std::byte> bytes_;
  std::string origin_;
  std::size_t at_ = 0;
};

}  // namespace foxhunt
