#include "foxhunt/base/time.h"

#include <fmt/format.h>

#include "foxhunt/base/error.h"

namespace foxhunt {
namespace {

using std::chrono::days;
using std::chrono::floor;

[[noreturn]] void refuse(std::string_view text) {
  throw ConfigError(
      fmt::format("[time] '{}' is not a UTC time; write 2013-10-06, 2013-10-06T22:00 or "
                  "2013-10-06T22:00:00.123Z, "
                  "from 1678 to 2261",
                  text));
}

/// Takes exactly `digits` decimal digits from the front of `rest`.
int take_number(std::string_view& rest, std::size_t digits, std::string_view text) {
  if (rest.size() < digits) refuse(text);
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const char c = rest[i];
    if (c < '0' || c > '9') refuse(text);
    value = value * 10 + (c - '0');
  }
  rest.remove_prefix(digits);
  return value;
}

void take_char(std::string_view& rest, char c, std::string_view text) {
  if (rest.empty() || rest.front() != c) refuse(text);
  rest.remove_prefix(1);
}

Date take_date(std::string_view& rest, std::string_view text) {
  const int year = take_number(rest, 4, text);
  take_char(rest, '-', text);
  const int month = take_number(rest, 2, text);
  take_char(rest, '-', text);
  const int day = take_number(rest, 2, text);
  const Date date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                  std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) refuse(text);
  return date;
}

}  // namespace

std::string to_string(Date d) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(d.year()),
                     static_cast<unsigned>(d.month()), static_cast<unsigned>(d.day()));
}

std::string to_string(UnixNanos t) {
  if (is_null(t)) return "null";
  const auto day = floor<days>(t);
  const std::chrono::hh_mm_ss clock{t - day};
  std::string text =
      fmt::format("{}T{:02}:{:02}:{:02}", to_string(Date{day}), clock.hours().count(),
                  clock.minutes().count(), clock.seconds().count());
  if (clock.subseconds().count() != 0) text += fmt::format(".{:09}", clock.subseconds().count());
  return text + "Z";
}

UnixNanos parse_time(std::string_view text) {
  std::string_view rest = text;
  const Date date = take_date(rest, text);
  // The years that lie wholly inside of what 64 bits of nanoseconds hold.
  if (static_cast<int>(date.year()) < 1678 || static_cast<int>(date.year()) > 2261) refuse(text);
  UnixNanos t = std::chrono::sys_days{date};
  if (rest.empty()) return t;
  if (rest.front() != 'T' && rest.front() != ' ') refuse(text);
  rest.remove_prefix(1);
  const int hour = take_number(rest, 2, text);
  take_char(rest, ':', text);
  const int minute = take_number(rest, 2, text);
  int second = 0;
  std::int64_t nanos = 0;
  if (!rest.empty() && rest.front() == ':') {
    rest.remove_prefix(1);
    second = take_number(rest, 2, text);
    if (!rest.empty() && rest.front() == '.') {
      rest.remove_prefix(1);
      int digits = 0;
      for (; !rest.empty() && rest.front() != 'Z'; ++digits)
        nanos = nanos * 10 + take_number(rest, 1, text);
      if (digits == 0 || digits > 9) refuse(text);
      for (; digits < 9; ++digits) nanos *= 10;
    }
  }
  if (rest == "Z") rest.remove_prefix(1);
  if (!rest.empty() || hour > 23 || minute > 59 || second > 59) refuse(text);
  return t + std::chrono::hours{hour} + std::chrono::minutes{minute} +
         std::chrono::seconds{second} + std::chrono::nanoseconds{nanos};
}

Date parse_date(std::string_view text) {
  std::string_view rest = text;
  const Date date = take_date(rest, text);
  if (!rest.empty()) refuse(text);
  return date;
}

Date utc_date(UnixNanos t) { return Date{floor<days>(t)}; }

UnixNanos now() {
  return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
}

}  // namespace foxhunt
