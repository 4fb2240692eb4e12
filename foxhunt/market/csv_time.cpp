#include "foxhunt/market/csv_time.h"

#include <date/date.h>
#include <date/tz.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>

#include "foxhunt/base/error.h"
#include "foxhunt/market/csv_values.h"

namespace foxhunt::market {
namespace {

using std::chrono::nanoseconds;
using LocalNanos = date::local_time<nanoseconds>;

/// A text being read from the front.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}
  bool at_end() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Exactly `digits` digits of a number that is at most `max`.
  std::optional<int> number(std::size_t digits, int max) {
    if (rest_.size() < digits) return std::nullopt;
    int value = 0;
    for (const char c : rest_.substr(0, digits)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(digits);
    return value <= max ? std::optional(value) : std::nullopt;
  }
  /// One to nine digits, as nanoseconds of a second.
  std::optional<nanoseconds> fraction() {
    std::int64_t value = 0;
    int digits = 0;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++digits) {
      if (digits == 9) return std::nullopt;
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    if (digits == 0) return std::nullopt;
    for (; digits < 9; ++digits) value *= 10;
    return nanoseconds{value};
  }

 private:
  std::string_view rest_;
};

/// Nanoseconds of int64 reach from 1677 to 2262; checked on the date, before anything is computed.
bool in_range(date::year_month_day date) {
  return date.year() > date::year{1677} && date.year() < date::year{2262};
}

constexpr const char* kOutOfRange = "lies outside the years 1678 to 2261";

struct LocalTime {
  date::year_month_day date;
  nanoseconds of_day{};
  std::optional<std::chrono::minutes> offset;  ///< of its own zone, where it has one

  LocalNanos nanos() const { return date::local_days{date} + of_day; }
};

/// Z, +01:00, +0100 or +01; nothing is no zone. nullopt where it is none of them.
bool take_offset(Cursor& cursor, std::optional<std::chrono::minutes>& offset) {
  if (cursor.at_end()) return true;
  if (cursor.take('Z')) {
    offset = std::chrono::minutes{0};
    return cursor.at_end();
  }
  const bool west = cursor.take('-');
  if (!west && !cursor.take('+')) return false;
  const auto hours = cursor.number(2, 23);
  if (!hours) return false;
  cursor.take(':');
  const auto minutes = cursor.at_end() ? std::optional(0) : cursor.number(2, 59);
  if (!minutes || !cursor.at_end()) return false;
  offset = std::chrono::minutes{(west ? -1 : 1) * (*hours * 60 + *minutes)};
  return true;
}

std::optional<LocalTime> read_iso(std::string_view text) {
  Cursor cursor(text);
  const auto year = cursor.number(4, 9999);
  if (!year || !cursor.take('-')) return std::nullopt;
  const auto month = cursor.number(2, 12);
  if (!month || !cursor.take('-')) return std::nullopt;
  const auto day = cursor.number(2, 31);
  if (!day) return std::nullopt;
  const date::year_month_day date{date::year{*year}, date::month{static_cast<unsigned>(*month)},
                                  date::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  LocalTime result{.date = date, .of_day = {}, .offset = std::nullopt};
  if (cursor.at_end()) return result;
  if (!cursor.take('T') && !cursor.take(' ')) return std::nullopt;
  const auto hour = cursor.number(2, 23);
  if (!hour || !cursor.take(':')) return std::nullopt;
  const auto minute = cursor.number(2, 59);
  if (!minute) return std::nullopt;
  result.of_day += std::chrono::hours{*hour} + std::chrono::minutes{*minute};
  if (cursor.take(':')) {
    const auto second = cursor.number(2, 59);
    if (!second) return std::nullopt;
    result.of_day += std::chrono::seconds{*second};
    if (cursor.take('.')) {
      const auto fraction = cursor.fraction();
      if (!fraction) return std::nullopt;
      result.of_day += *fraction;
    }
  }
  if (!take_offset(cursor, result.offset)) return std::nullopt;
  return result;
}

/// Takes a fraction of the seconds out of `text`, which strptime does not know: where the format up
/// to its seconds ends at a point. nullopt: digits that are no fraction.
std::optional<nanoseconds> take_fraction(std::string& text, const std::string& format) {
  std::size_t behind = std::string::npos;  // the seconds, in the format
  for (const char* field : {"%S", "%T"}) {
    if (const auto at = format.find(field); at != std::string::npos) behind = at + 2;
  }
  if (behind == std::string::npos) return nanoseconds{0};
  std::tm ignored{};
  const char* end = ::strptime(text.c_str(), format.substr(0, behind).c_str(), &ignored);
  if (end == nullptr || *end != '.') return nanoseconds{0};
  const auto point = static_cast<std::size_t>(end - text.c_str());
  const std::size_t rest = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
  const auto fraction =
      Cursor(std::string_view(text).substr(point + 1, rest - point - 1)).fraction();
  text.erase(point, rest - point);
  return fraction;
}

/// By the C library's strptime, which bounds the digits of every field. (date::from_stream converts
/// seconds that it could not read, or that are over 64 bits of nanoseconds.)
std::optional<LocalTime> read_fields(std::string text, const std::string& format) {
  if (text.find('\0') != std::string::npos) return std::nullopt;  // would end it unseen
  const auto fraction = take_fraction(text, format);
  constexpr int kAbsent = -30'000;  // a year that no text gives
  std::tm fields{};
  fields.tm_year = kAbsent;
  fields.tm_mon = -1;
  fields.tm_mday = 0;
  const char* end = ::strptime(text.c_str(), format.c_str(), &fields);
  if (!fraction || end == nullptr || *end != '\0' || fields.tm_sec > 59 ||
      fields.tm_year == kAbsent)
    return std::nullopt;
  const date::year_month_day date{date::year{fields.tm_year + 1900},
                                  date::month{static_cast<unsigned>(fields.tm_mon + 1)},
                                  date::day{static_cast<unsigned>(fields.tm_mday)}};
  if (!date.ok()) return std::nullopt;
  LocalTime result{.date = date, .of_day = *fraction, .offset = std::nullopt};
  result.of_day += std::chrono::hours{fields.tm_hour} + std::chrono::minutes{fields.tm_min} +
                   std::chrono::seconds{fields.tm_sec};
  if (format.find("%z") != std::string::npos) {
    result.offset = std::chrono::minutes{fields.tm_gmtoff / 60};
  }
  return result;
}

}  // namespace

/// Wall clock of one zone to UTC. Remembers the stretch of constant offset of its last answer.
struct CsvTimeParser::Zone {
  explicit Zone(std::string zone_name) : name(std::move(zone_name)) {
    if (name == "UTC") return;
    try {
      zone = date::locate_zone(name);
    } catch (const std::exception& error) {
      throw ConfigError(
          fmt::format("[csv] time zone '{}' is not known ({}); write an IANA name such as "
                      "America/Chicago, and install the package tzdata",
                      name, error.what()));
    }
  }

  std::string resolve(const LocalTime& local, UnixNanos& out) {
    if (!in_range(local.date)) return kOutOfRange;
    if (!local.offset) return to_utc(local.nanos(), out);
    out = UnixNanos{local.nanos().time_since_epoch() - *local.offset};
    return {};
  }

  std::string to_utc(LocalNanos local, UnixNanos& out) {
    if (zone == nullptr) {
      out = UnixNanos{local.time_since_epoch()};
      return {};
    }
    const auto seconds = date::floor<std::chrono::seconds>(local);
    const date::sys_seconds guess{seconds.time_since_epoch() - stretch.offset};
    // No change of clocks is near a time that lies a day inside the stretch.
    if (guess < stretch.begin + date::days{1} || guess > stretch.end - date::days{1}) {
      const date::local_info info = zone->get_info(seconds);
      if (info.result == date::local_info::nonexistent) {
        return fmt::format("does not exist in {}: the clocks go forward over it", name);
      }
      if (info.result == date::local_info::ambiguous) {
        return fmt::format("is ambiguous in {}: the clocks go back and it comes twice", name);
      }
      stretch = info.first;
    }
    out = UnixNanos{local.time_since_epoch() - stretch.offset};
    return {};
  }

  std::string name;
  const date::time_zone* zone = nullptr;  ///< null: UTC
  date::sys_info stretch{};
};

CsvTimeParser::CsvTimeParser(std::string format, std::string zone)
    : format_(std::move(format)), zone_(std::make_unique<Zone>(std::move(zone))) {
  static const std::map<std::string, std::int64_t, std::less<>> units = {
      {"unix_s", 1'000'000'000}, {"unix_ms", 1'000'000}, {"unix_us", 1'000}, {"unix_ns", 1}};
  if (const auto unit = units.find(format_); unit != units.end()) unix_unit_ = unit->second;
  if (unix_unit_ == 0 && format_ != "iso" && format_.find('%') == std::string::npos) {
    throw ConfigError(fmt::format(
        "[csv] time format '{}' is not known; write iso, unix_s, unix_ms, unix_us, unix_ns, or "
        "strptime fields such as %Y-%m-%d %H:%M:%S",
        format_));
  }
  if (format_.find("%s") != std::string::npos) {  // strptime would answer in this machine's zone
    throw ConfigError("[csv] time format with %s is not taken; write unix_s");
  }
}
CsvTimeParser::~CsvTimeParser() = default;
CsvTimeParser::CsvTimeParser(CsvTimeParser&&) noexcept = default;
CsvTimeParser& CsvTimeParser::operator=(CsvTimeParser&&) noexcept = default;

std::string CsvTimeParser::parse(std::string_view text, UnixNanos& out) const {
  if (unix_unit_ != 0) return parse_unix(text, out);
  return format_ == "iso" ? parse_iso(text, out) : parse_fields(text, out);
}

std::string CsvTimeParser::parse_unix(std::string_view text, UnixNanos& out) const {
  const std::int64_t limit = std::numeric_limits<std::int64_t>::max() / unix_unit_;
  std::int64_t value = 0;
  std::string rule = parse_signed(text, -limit, limit, value);
  if (!rule.empty()) return rule;
  const date::sys_time<nanoseconds> t{nanoseconds{value * unix_unit_}};
  if (!in_range(date::year_month_day{date::floor<date::days>(t)})) return kOutOfRange;
  out = UnixNanos{t.time_since_epoch()};
  return {};
}

std::string CsvTimeParser::parse_iso(std::string_view text, UnixNanos& out) const {
  const auto read = read_iso(text);
  if (!read) return "is no time such as 2020-12-28T13:00:00.006Z";
  return zone_->resolve(*read, out);
}

std::string CsvTimeParser::parse_fields(std::string_view text, UnixNanos& out) const {
  const auto local = read_fields(std::string(text), format_);
  if (!local) return fmt::format("does not have the form {}", format_);
  return zone_->resolve(*local, out);
}

}  // namespace foxhunt::market
