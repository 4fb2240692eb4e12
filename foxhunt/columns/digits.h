#pragma once
// Integers, prices and times as text, fast: no allocation, no locale, no division by a variable.
//
// Each function writes at `out` and answers the end; the caller has made room for kMost… bytes.

#include <cstddef>
#include <cstdint>

namespace foxhunt::columns {

inline constexpr std::size_t kMostDigits = 20;  ///< of a 64-bit integer, sign included
inline constexpr std::size_t kMostPrice = 21;   ///< "-9223372036.854775808"
inline constexpr std::size_t kMostIso = 30;     ///< "2554-07-21T23:34:33.709551615Z"

char* write_unsigned(char* out, std::uint64_t value);
char* write_signed(char* out, std::int64_t value);
/// Always nine decimals: "3720.250000000".
char* write_price(char* out, std::int64_t nano);

/// Times of one file: neighbours share their second, which is then formatted once.
class TimeText {
 public:
  /// The integer.
  char* write_nanos(char* out, std::uint64_t nanos);
  /// 2020-12-28T13:00:00.006136329Z, always nine decimals.
  char* write_iso(char* out, std::uint64_t nanos);

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t raw_second_ = kNone;
  char raw_[12];
  std::size_t raw_size_ = 0;
  std::uint64_t iso_second_ = kNone;
  char iso_[24];
};

}  // namespace foxhunt::columns
