#include "foxhunt/market/csv_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace foxhunt::market {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool all_zeros(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == '0'; });
}

constexpr const char* kNoDecimal = "is no decimal number such as 4321.25";

/// value * 10 + digit, or false where that does not fit below the null price.
bool append_digit(std::int64_t& value, int digit) {
  constexpr std::int64_t kLargest = Price::kNullNano - 1;
  if (value > (kLargest - digit) / 10) return false;
  value = value * 10 + digit;
  return true;
}

}  // namespace

std::string parse_decimal_price(std::string_view text, Price& out) {
  constexpr int kDecimals = 9;
  if (text.empty()) {
    out = Price::null();
    return {};
  }
  std::string_view rest = text;
  const bool negative = rest.front() == '-';
  if (negative) rest.remove_prefix(1);
  const std::size_t dot = rest.find('.');
  const std::string_view whole = rest.substr(0, dot);
  const std::string_view fraction =
      dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
  if (whole.empty() || (dot != std::string_view::npos && fraction.empty()) ||
      !std::ranges::all_of(whole, is_digit) || !std::ranges::all_of(fraction, is_digit)) {
    return kNoDecimal;
  }
  if (fraction.size() > kDecimals && !all_zeros(fraction.substr(kDecimals))) {
    return "has more than 9 decimals; prices are exact to 1e-9";
  }
  std::int64_t nano = 0;
  bool fits = true;
  for (const char c : whole) fits = fits && append_digit(nano, c - '0');
  for (std::size_t i = 0; i < kDecimals; ++i) {
    fits = fits && append_digit(nano, i < fraction.size() ? fraction[i] - '0' : 0);
  }
  if (!fits) return "lies outside ±9223372036.854775806, the range of a price in 1e-9 units";
  out = Price{negative ? -nano : nano};
  return {};
}

std::string parse_nano_price(std::string_view text, Price& out) {
  if (text.empty()) {
    out = Price::null();
    return {};
  }
  std::int64_t nano = 0;
  std::string rule = parse_signed(text, std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::int64_t>::max(), nano);
  if (rule.empty()) out = Price{nano};
  return rule;
}

std::string parse_unsigned(std::string_view text, std::uint64_t max, std::uint64_t& out) {
  const std::size_t dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  const char* end = whole.data() + whole.size();
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(whole.data(), end, value);
  const bool number = !whole.empty() && stop == end && error != std::errc::invalid_argument;
  if (!number || (dot != std::string_view::npos && !all_zeros(text.substr(dot + 1)))) {
    return "is no whole number";
  }
  if (error == std::errc::result_out_of_range || value > max) {
    return fmt::format("lies outside 0 to {}", max);
  }
  out = value;
  return {};
}

std::string parse_signed(std::string_view text, std::int64_t min, std::int64_t max,
                         std::int64_t& out) {
  const char* end = text.data() + text.size();
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || stop != end || error == std::errc::invalid_argument)
    return "is no whole number";
  if (error == std::errc::result_out_of_range || value < min || value > max) {
    return fmt::format("lies outside {} to {}", min, max);
  }
  out = value;
  return {};
}

}  // namespace foxhunt::market
