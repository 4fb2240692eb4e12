#pragma once
// How failures cross the C border: a code, and a text of this thread. No exception does.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace foxhunt::engine {

/// Keeps the text for foxhunt_last_error() and answers the code. Allocates nothing.
std::int32_t c_fail(std::int32_t code, std::string_view text) noexcept;
/// Of the exception that is being handled.
std::int32_t c_fail_caught() noexcept;
const char* c_last_error() noexcept;

/// What `call` answers, or the code of what it throws.
template <class Call>
std::int32_t c_guarded(Call&& call) noexcept {
  try {
    return call();
  } catch (...) {
    return c_fail_caught();
  }
}

/// A struct of the caller, which begins with its own size, as the one that this library knows.
/// False where it is null or too small to hold its size, or sets what this library does not know.
template <class T>
bool c_read_struct(const T* from, T& to) noexcept {
  std::size_t size = 0;
  if (from == nullptr) return false;
  std::memcpy(&size, from, sizeof size);
  if (size < sizeof size || size > (std::size_t{1} << 16U)) return false;
  const char* bytes = reinterpret_cast<const char*>(from);
  for (std::size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  to = {};
  std::memcpy(&to, from, size < sizeof(T) ? size : sizeof(T));
  to.struct_size = sizeof(T);
  return true;
}

/// Writes as much as the caller has room for; what a newer caller has beyond is zero.
template <class T>
bool c_write_struct(const T& from, T* to) noexcept {
  std::size_t size = 0;
  if (to == nullptr) return false;
  std::memcpy(&size, to, sizeof size);
  if (size < sizeof size || size > (std::size_t{1} << 16U)) return false;
  char* bytes = reinterpret_cast<char*>(to);
  const std::size_t known = size < sizeof(T) ? size : sizeof(T);
  std::memcpy(bytes + sizeof size, reinterpret_cast<const char*>(&from) + sizeof size,
              known - sizeof size);
  std::memset(bytes + known, 0, size - known);
  return true;
}

}  // namespace foxhunt::engine
