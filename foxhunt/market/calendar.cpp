#include "foxhunt/market/calendar.h"

#include <date/tz.h>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/market/product_table.h"

namespace foxhunt::market {
namespace {

using std::chrono::days;
using std::chrono::minutes;
using std::chrono::sys_days;

constexpr int kOpenMinute = 17 * 60;
constexpr sys_days kFirstDay = std::chrono::year{1998} / 1 / 1;
// Time zone files list their clock changes up to 2037; the date library knows none after.
constexpr sys_days kLastDay = std::chrono::year{2036} / 12 / 31;

/// Wall clock of Chicago to UTC. Keeps the offset of the last answer: neighbouring days share it.
class ChicagoClock {
 public:
  ChicagoClock() {
    try {
      zone_ = date::locate_zone("America/Chicago");
    } catch (const std::exception& error) {
      throw ConfigError(
          fmt::format("[calendar] time zone 'America/Chicago' is not available ({}); install the "
                      "package tzdata",
                      error.what()));
    }
  }

  /// `minute` after midnight of `day`. Never a time that the change of clocks skips or repeats:
  /// those lie between 01:00 and 03:00 on Sundays.
  UnixNanos to_utc(sys_days day, int minute) {
    const date::local_seconds local{(day + minutes{minute}).time_since_epoch()};
    const date::sys_seconds guess{local.time_since_epoch() - info_.offset};
    if (guess < info_.begin || guess >= info_.end) info_ = zone_->get_info(local).first;
    return UnixNanos{local.time_since_epoch() - info_.offset};
  }

 private:
  const date::time_zone* zone_ = nullptr;
  date::sys_info info_{};
};

std::int32_t yyyymmdd(sys_days day) {
  const Date d{day};
  return static_cast<int>(d.year()) * 10000 +
         static_cast<std::int32_t>(static_cast<unsigned>(d.month()) * 100 +
                                   static_cast<unsigned>(d.day()));
}

Date from_yyyymmdd(std::int32_t number) {
  return Date{std::chrono::year{number / 10000},
              std::chrono::month{static_cast<unsigned>(number / 100 % 100)},
              std::chrono::day{static_cast<unsigned>(number % 100)}};
}

/// The close of `day` by the table, or -1 without a session; `regular` where the table says
/// nothing.
int close_of(const ProductRow& row, std::int32_t day, int regular) {
  const auto found = std::ranges::lower_bound(row.special_days, day, {}, &SpecialDay::date);
  if (found == row.special_days.end() || found->date != day) return regular;
  return found->close;
}

std::vector<Session> sessions_of(const ProductRow& row) {
  ChicagoClock chicago;
  std::vector<Session> sessions;
  for (sys_days day = kFirstDay; day <= kLastDay; day += days{1}) {
    const std::chrono::weekday weekday{day};
    if (weekday == std::chrono::Saturday || weekday == std::chrono::Sunday) continue;
    const std::int32_t number = yyyymmdd(day);
    const Hours& hours = *(std::ranges::upper_bound(row.hours, number, {}, &Hours::from) - 1);
    const int close = close_of(row, number, hours.close);
    if (close < 0) continue;
    Session session{.trade_date = Date{day},
                    .open = chicago.to_utc(day - days{1}, kOpenMinute),
                    .close = chicago.to_utc(day, close),
                    .early_close = close < hours.close};
    if (hours.halt_start < hours.halt_end && hours.halt_end <= close) {
      session.halt_start = chicago.to_utc(day, hours.halt_start);
      session.halt_end = chicago.to_utc(day, hours.halt_end);
    }
    sessions.push_back(session);
  }
  return sessions;
}

}  // namespace

struct Calendar::Table {
  std::vector<Session> sessions;  ///< in order, never overlapping
  Date listed_from{};
  Date listed_until{};
};

Calendar::Calendar(std::string product, std::shared_ptr<const Table> table)
    : product_(std::move(product)), table_(std::move(table)) {}

Calendar Calendar::for_product(std::string_view root) {
  const ProductRow& row = product_row(root);
  return Calendar(
      std::string(root),
      std::make_shared<Table>(Table{.sessions = sessions_of(row),
                                    .listed_from = from_yyyymmdd(row.special_days.front().date),
                                    .listed_until = from_yyyymmdd(row.special_days.back().date)}));
}

std::vector<std::string> Calendar::products() {
  std::vector<std::string> names;
  for (const ProductRow& row : product_table()) names.emplace_back(row.product);
  return names;
}

std::optional<Session> Calendar::session_at(UnixNanos t) const {
  const auto& sessions = table_->sessions;
  const auto after = std::ranges::upper_bound(sessions, t, {}, &Session::open);
  if (after == sessions.begin() || t >= (after - 1)->close) return std::nullopt;
  return *(after - 1);
}

std::optional<Session> Calendar::session_on(Date trade_date) const {
  const auto& sessions = table_->sessions;
  const auto found = std::ranges::lower_bound(sessions, trade_date, {}, &Session::trade_date);
  if (found == sessions.end() || found->trade_date != trade_date) return std::nullopt;
  return *found;
}

std::vector<Session> Calendar::sessions_between(UnixNanos from, UnixNanos to) const {
  if (from >= to) return {};
  const auto& sessions = table_->sessions;
  const auto first = std::ranges::upper_bound(sessions, from, {}, &Session::close);
  const auto last = std::ranges::lower_bound(sessions, to, {}, &Session::open);
  return first < last ? std::vector<Session>(first, last) : std::vector<Session>{};
}

Date Calendar::holidays_from() const { return table_->listed_from; }
Date Calendar::holidays_until() const { return table_->listed_until; }

}  // namespace foxhunt::market
