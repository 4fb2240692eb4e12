#pragma once
// Little-endian loads and stores at byte offsets. Records of DBN stand at any address, so nothing
// here casts a pointer.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace foxhunt::market {

static_assert(std::endian::native == std::endian::little, "DBN is read as it lies in the file");

/// The caller has checked that the value lies inside `bytes`.
template <class T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  assert(offset + sizeof(T) <= bytes.size());
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
void store(std::span<std::byte> bytes, std::size_t offset, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  assert(offset + sizeof(T) <= bytes.size());
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

/// The text before the first NUL of a field of `size` bytes, which may hold none.
inline std::string load_text(std::span<const std::byte> bytes, std::size_t offset,
                             std::size_t size) {
  const auto field = bytes.subspan(offset, size);
  std::string text(size, '\0');
  std::memcpy(text.data(), field.data(), size);
  text.resize(std::min(text.find('\0'), size));
  return text;
}

/// `bytes` is zero there; the caller has checked that the text is shorter than its field.
inline void store_text(std::span<std::byte> bytes, std::size_t offset, std::string_view text) {
  assert(offset + text.size() < bytes.size());
  if (!text.empty()) std::memcpy(bytes.data() + offset, text.data(), text.size());
}

}  // namespace foxhunt::market
