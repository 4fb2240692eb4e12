#pragma once
// Times as they travel: nanoseconds since 1970 in UTC, never a double, never local.

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace foxhunt {

using UnixNanos = std::chrono::sys_time<std::chrono::nanoseconds>;
using Date = std::chrono::year_month_day;

/// "No time": what an undefined timestamp of a file becomes.
inline constexpr UnixNanos kNullTime{
    std::chrono::nanoseconds{std::numeric_limits<std::int64_t>::min()}};

constexpr bool is_null(UnixNanos t) { return t == kNullTime; }
constexpr std::int64_t count(UnixNanos t) { return t.time_since_epoch().count(); }
constexpr UnixNanos from_nanos(std::int64_t n) { return UnixNanos{std::chrono::nanoseconds{n}}; }

/// 2013-10-06T22:00:00Z, with .123456789 before the Z when there is a fraction. "null" for
/// kNullTime.
std::string to_string(UnixNanos t);
/// 2013-10-06
std::string to_string(Date d);

/// Reads 2013-10-06, 2013-10-06T22:00, 2013-10-06T22:00:00[.fraction] with optional Z; always UTC.
/// Errors  ConfigError naming the text and the accepted forms.
UnixNanos parse_time(std::string_view text);
/// Reads 2013-10-06. Errors  as parse_time.
Date parse_date(std::string_view text);

/// The UTC date of `t`.
Date utc_date(UnixNanos t);

/// Wall clock now.
UnixNanos now();

}  // namespace foxhunt
