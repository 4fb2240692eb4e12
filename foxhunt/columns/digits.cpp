#include "foxhunt/columns/digits.h"

#include <array>
#include <chrono>
#include <cstring>

namespace foxhunt::columns {
namespace {

constexpr std::uint64_t kBillion = 1'000'000'000;

constexpr auto kPairs = [] {
  std::array<char, 200> pairs{};
  for (int i = 0; i < 100; ++i) {
    pairs[static_cast<std::size_t>(2 * i)] = static_cast<char>('0' + i / 10);
    pairs[static_cast<std::size_t>(2 * i + 1)] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

void write_pair(char* out, std::uint32_t value) {
  std::memcpy(out, kPairs.data() + std::size_t{2} * value, 2);
}

/// Exactly eight digits.
void write_eight(char* out, std::uint32_t value) {
  const std::uint32_t high = value / 10'000;
  const std::uint32_t low = value % 10'000;
  write_pair(out, high / 100);
  write_pair(out + 2, high % 100);
  write_pair(out + 4, low / 100);
  write_pair(out + 6, low % 100);
}

/// Exactly nine digits.
void write_nine(char* out, std::uint32_t value) {
  out[0] = static_cast<char>('0' + value / 100'000'000);
  write_eight(out + 1, value % 100'000'000);
}

/// Without leading zeros.
char* write_small(char* out, std::uint32_t value) {
  if (value < 10) {
    *out = static_cast<char>('0' + value);
    return out + 1;
  }
  char text[10];
  char* begin = text + sizeof text;
  while (value >= 100) {
    begin -= 2;
    write_pair(begin, value % 100);
    value /= 100;
  }
  if (value >= 10) {
    begin -= 2;
    write_pair(begin, value);
  } else {
    *--begin = static_cast<char>('0' + value);
  }
  const auto size = static_cast<std::size_t>(text + sizeof text - begin);
  std::memcpy(out, begin, size);
  return out + size;
}

std::uint64_t magnitude(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? ~bits + 1 : bits;
}

}  // namespace

char* write_unsigned(char* out, std::uint64_t value) {
  if (value <= 0xFFFFFFFFU) return write_small(out, static_cast<std::uint32_t>(value));
  const std::uint64_t high = value / kBillion;
  out = write_unsigned(out, high);  // at most 18446744073
  write_nine(out, static_cast<std::uint32_t>(value % kBillion));
  return out + 9;
}

char* write_signed(char* out, std::int64_t value) {
  if (value < 0) *out++ = '-';
  return write_unsigned(out, magnitude(value));
}

char* write_price(char* out, std::int64_t nano) {
  if (nano < 0) *out++ = '-';
  const std::uint64_t units = magnitude(nano);
  out = write_unsigned(out, units / kBillion);
  *out++ = '.';
  write_nine(out, static_cast<std::uint32_t>(units % kBillion));
  return out + 9;
}

char* TimeText::write_nanos(char* out, std::uint64_t nanos) {
  const std::uint64_t second = nanos / kBillion;
  if (second == 0) return write_unsigned(out, nanos);
  if (second != raw_second_) {
    raw_second_ = second;
    raw_size_ = static_cast<std::size_t>(write_unsigned(raw_, second) - raw_);
  }
  std::memcpy(out, raw_, sizeof raw_);  // a fixed size is one move; what is too much is overwritten
  write_nine(out + raw_size_, static_cast<std::uint32_t>(nanos - second * kBillion));
  return out + raw_size_ + 9;
}

char* TimeText::write_iso(char* out, std::uint64_t nanos) {
  constexpr std::size_t kToSecond = 20;  // "2020-12-28T13:00:00."
  const std::uint64_t second = nanos / kBillion;
  if (second != iso_second_) {
    iso_second_ = second;
    const auto of_day = static_cast<std::uint32_t>(second % 86'400);
    const std::chrono::year_month_day date{
        std::chrono::sys_days{std::chrono::days{static_cast<int>(second / 86'400)}}};
    const auto year = static_cast<std::uint32_t>(static_cast<int>(date.year()));
    std::memcpy(iso_, "0000-00-00T00:00:00.", kToSecond);
    write_pair(iso_, year / 100);
    write_pair(iso_ + 2, year % 100);
    write_pair(iso_ + 5, static_cast<unsigned>(date.month()));
    write_pair(iso_ + 8, static_cast<unsigned>(date.day()));
    write_pair(iso_ + 11, of_day / 3'600);
    write_pair(iso_ + 14, of_day / 60 % 60);
    write_pair(iso_ + 17, of_day % 60);
  }
  std::memcpy(out, iso_, kToSecond);
  write_nine(out + kToSecond, static_cast<std::uint32_t>(nanos - second * kBillion));
  out[kToSecond + 9] = 'Z';
  return out + kToSecond + 10;
}

}  // namespace foxhunt::columns
