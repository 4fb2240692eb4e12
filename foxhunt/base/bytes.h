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
#include <utility>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt {

static_assert(std::endian::native == std::endian::little);

/// Numbers of which every byte counts and every pattern of bits is a value. Not bool (a byte of 2
/// is none) and not long double (padding).
template <class T>
concept PlainNumber =
    std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, long double>;

/// Appends. A value is written as it lies in memory; texts and lists with their length in front.
class ByteWriter {
 public:
  /// A number, an enum or a bool.
  template <class T>
  void value(const T& v) {
    static_assert(PlainNumber<T> || std::is_enum_v<T> || std::is_same_v<T, bool>);
    append(&v, sizeof v);
  }
  template <class T>
  void list(std::span<const T> values) {
    static_assert(PlainNumber<T>);
    value(static_cast<std::uint64_t>(values.size()));
    append(values.data(), values.size_bytes());
  }
  void text(std::string_view v) { list(std::span<const char>(v)); }
  /// As they are, without a length.
  void raw(std::span<const std::byte> bytes) { append(bytes.data(), bytes.size()); }

  const std::vector<std::byte>& bytes() const { return bytes_; }
  /// Leaves the writer empty.
  std::vector<std::byte> take() { return std::exchange(bytes_, {}); }

 private:
  void append(const void* from, std::size_t size) {
    const auto* p = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), p, p + size);
  }
  std::vector<std::byte> bytes_;
};

/// Reads in the order of writing. Errors  FormatError naming `origin`, the byte and the rule: the
/// bytes end early, a list is not of the size that is expected, a bool is neither 0 nor 1, bytes
/// remain at the end. Nothing is allocated for a length that the bytes cannot hold.
/// Lifetime  the bytes belong to the caller and outlive the reader.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string origin)
      : bytes_(bytes), origin_(std::move(origin)) {}

  template <class T>
  T value() {
    if constexpr (std::is_same_v<T, bool>) {
      const auto byte = value<std::uint8_t>();
      if (byte > 1) fail("a truth value of " + std::to_string(byte) + ", expected 0 or 1");
      return byte == 1;
    } else {
      // An enum has its underlying type's values: whoever reads one checks that it is a named one.
      static_assert(PlainNumber<T> || std::is_enum_v<T>);
      T v{};
      std::memcpy(&v, need(sizeof v), sizeof v);
      return v;
    }
  }
  /// A list of exactly out.size() values.
  template <class T>
  void list(std::span<T> out) {
    static_assert(PlainNumber<T>);
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
  /// The next `size` bytes, where they lie.
  std::span<const std::byte> raw(std::size_t size) {
    return {static_cast<const std::byte*>(need(size)), size};
  }
  /// A number of things of at least `bytes_each` (> 0) bytes that follow: never more than there is
  /// room for, so that memory may be taken for them.
  std::size_t count(std::size_t bytes_each) {
    const auto n = value<std::uint64_t>();
    if (n > remaining() / bytes_each) {
      fail("a list of " + std::to_string(n) + " entries, but " + std::to_string(remaining()) +
           " bytes are left");
    }
    return static_cast<std::size_t>(n);
  }
  void finish() const {
    if (remaining() != 0) fail(std::to_string(remaining()) + " bytes too many");
  }
  [[noreturn]] void fail(const std::string& rule) const {
    throw FormatError(origin_ + ": byte " + std::to_string(at_) + ": " + rule);
  }
  std::size_t position() const { return at_; }
  std::size_t remaining() const { return bytes_.size() - at_; }
  const std::string& origin() const { return origin_; }

 private:
  const void* need(std::size_t size) {
    if (size > remaining()) {
      fail("needs " + std::to_string(size) + " bytes, " + std::to_string(remaining()) +
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
