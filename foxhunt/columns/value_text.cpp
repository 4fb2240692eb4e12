#include "foxhunt/columns/value_text.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <limits>

namespace foxhunt::columns {
namespace {

constexpr std::uint64_t kBillion = 1'000'000'000;
constexpr std::size_t kDecimals = 9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits only, of a number that fits; false where not.
bool read_digits(std::string_view text, std::uint64_t& out) {
  if (text.empty() || !is_digit(text.front())) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Decimals behind the point, one to nine, as 1e-9.
bool read_fraction(std::string_view text, std::uint64_t& out) {
  if (text.size() > kDecimals || !read_digits(text, out)) return false;
  for (std::size_t i = text.size(); i < kDecimals; ++i) out *= 10;
  return true;
}

}  // namespace

std::string parse_whole(std::string_view text, std::uint64_t most, std::uint64_t& out) {
  if (text.empty() || !is_digit(text.front())) return "is no whole number";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (end != text.data() + text.size()) return "is no whole number";
  if (error != std::errc{} || out > most) return fmt::format("lies outside 0 to {}", most);
  return {};
}

std::string parse_whole_signed(std::string_view text, unsigned bits, std::uint64_t& out) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64U - bits);
  const std::int64_t least = -most - 1;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size() || error == std::errc::invalid_argument) {
    return "is no whole number";
  }
  if (error != std::errc{} || value < least || value > most) {
    return fmt::format("lies outside {} to {}", least, most);
  }
  out = static_cast<std::uint64_t>(value);
  return {};
}

std::string parse_price(std::string_view text, std::uint64_t& out) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = negative ? text.substr(1) : text;
  const std::size_t point = digits.find('.');
  std::uint64_t whole = 0;
  std::uint64_t fraction = 0;
  if (!read_digits(digits.substr(0, point), whole) ||
      (point != std::string_view::npos && !read_fraction(digits.substr(point + 1), fraction))) {
    return "is no decimal number with up to 9 decimals";
  }
  const std::uint64_t most = (std::uint64_t{1} << 63U) - (negative ? 0 : 1);
  if (whole > most / kBillion || whole * kBillion + fraction > most) {
    return "lies outside -9223372036.854775808 to 9223372036.854775807";
  }
  const std::uint64_t units = whole * kBillion + fraction;
  out = negative ? ~units + 1 : units;
  return {};
}

std::string parse_iso(std::string_view text, std::uint64_t& out) {
  constexpr const char* kRule = "is no UTC time such as 2020-12-28T13:00:00.006136329Z";
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() < kShape.size() + 1 || text.back() != 'Z') return kRule;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == 'd' ? !is_digit(text[i]) : text[i] != kShape[i]) return kRule;
  }
  const auto number = [&](std::size_t at, std::size_t size) {
    unsigned value = 0;
    for (std::size_t i = at; i < at + size; ++i)
      value = value * 10 + static_cast<unsigned>(text[i] - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(number(0, 4))},
                                         std::chrono::month{number(5, 2)},
                                         std::chrono::day{number(8, 2)}};
  const unsigned hour = number(11, 2);
  const unsigned minute = number(14, 2);
  const unsigned second = number(17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return "is no day and time that exist";
  std::uint64_t fraction = 0;
  const std::string_view rest = text.substr(kShape.size(), text.size() - kShape.size() - 1);
  if (!rest.empty() && (rest.front() != '.' || !read_fraction(rest.substr(1), fraction)))
    return kRule;
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  if (days < 0) return "lies before 1970";
  const std::uint64_t seconds =
      static_cast<std::uint64_t>(days) * 86'400 + hour * 3'600 + minute * 60 + second;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (seconds > kMost / kBillion || seconds * kBillion > kMost - fraction) {
    return "lies after 2554-07-21T23:34:33.709551615Z";
  }
  out = seconds * kBillion + fraction;
  return {};
}

std::string parse_letter(std::string_view text, std::uint64_t& out) {
  unsigned value = 0;
  if (text.empty()) {
    out = 0;
  } else if (text.size() == 1) {
    out = static_cast<unsigned char>(text[0]);
  } else if (text.size() == 4 && text.starts_with("0x") &&
             std::from_chars(text.data() + 2, text.data() + 4, value, 16).ptr == text.data() + 4) {
    out = value;
  } else {
    return "is not one letter";
  }
  return {};
}

char* write_letter(char* out, unsigned char letter) {
  if (letter == 0) return out;
  if (letter > 0x20 && letter < 0x7F) {
    *out = static_cast<char>(letter);
    return out + 1;
  }
  constexpr const char* kHex = "0123456789ABCDEF";
  out[0] = '0';
  out[1] = 'x';
  out[2] = kHex[letter >> 4U];
  out[3] = kHex[letter & 0xFU];
  return out + 4;
}

}  // namespace foxhunt::columns
