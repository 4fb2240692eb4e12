#pragma once
// One record of a DBN stream as it lies there: bytes, type, layout version, send time.

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "foxhunt/base/error.h"

namespace foxhunt::market::dbn {

/// A record looked at as a struct: in place where its address allows it, else a copy.
/// Lifetime  that of the bytes; it stays where it was made.
template <class T>
class View {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit View(const std::byte* bytes) {
    if (reinterpret_cast<std::uintptr_t>(bytes) % alignof(T) == 0) {
      at_ = reinterpret_cast<const T*>(bytes);
    } else {
      std::memcpy(&copy_, bytes, sizeof copy_);
      at_ = &copy_;
    }
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const T& operator*() const { return *at_; }
  const T* operator->() const { return at_; }
  bool in_place() const { return at_ != &copy_; }

 private:
  T copy_;
  const T* at_;
};

struct RawRecord {
  std::span<const std::byte>
      bytes;  ///< header included, ts_out left out; the length byte may count it
  int rtype = 0;
  int version = 3;                        ///< whose layout the bytes have
  std::optional<std::uint64_t> ts_out{};  ///< ns since 1970 UTC, where the file has it
  std::uint64_t offset = 0;               ///< of the record in the (decompressed) stream

  /// The record as the struct of its type and version (book_records.h, venue_records.h). What a
  /// newer writer appended lies behind it.
  /// Errors  DataError: fewer bytes than a T.
  template <class T>
  View<T> as() const {
    if (bytes.size() < sizeof(T)) {
      throw DataError(fmt::format("byte {}: a record of type {} has {} bytes; {} are asked for",
                                  offset, rtype, bytes.size(), sizeof(T)));
    }
    return View<T>(bytes.data());
  }
};

}  // namespace foxhunt::market::dbn
