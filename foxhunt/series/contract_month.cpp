#include "foxhunt/series/contract_month.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/market/contract.h"

namespace foxhunt::series {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

constexpr std::string_view kLetters = "FGHJKMNQUVXZ";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The n-th such weekday of a month.
sys_days nth_weekday(ContractMonth month, std::chrono::weekday weekday, unsigned n) {
  return sys_days{std::chrono::year{month.year} / std::chrono::month{month.month} / weekday[n]};
}

/// Holidays of the banks on which Globex trades until noon all the same. Those without any session
/// (New Year, Good Friday, Christmas) are in the calendar.
bool is_bank_holiday(sys_days day) {
  using namespace std::chrono;
  const Date date{day};
  const ContractMonth month{static_cast<int>(date.year()), static_cast<unsigned>(date.month())};
  // A holiday on a Saturday is kept on the Friday before, one on a Sunday on the Monday after.
  const auto kept = [&](sys_days holiday) {
    const weekday on{holiday};
    return day == holiday + days{on == Saturday ? -1 : on == Sunday ? 1 : 0};
  };
  switch (month.month) {
    case 1:
      return day == nth_weekday(month, Monday, 3);
    case 2:
      return day == nth_weekday(month, Monday, 3);
    case 5:
      return day == sys_days{date.year() / May / Monday[last]};
    case 6:
      return month.year >= 2022 && kept(date.year() / June / 19);
    case 7:
      return kept(date.year() / July / 4);
    case 9:
      return day == nth_weekday(month, Monday, 1);
    case 11:
      return day == nth_weekday(month, Thursday, 4);
    default:
      return false;
  }
}

bool is_business_day(const market::Calendar& calendar, sys_days day) {
  return calendar.session_on(Date{day}).has_value() && !is_bank_holiday(day);
}

/// `day` itself, or the business day before it.
sys_days at_or_before(const market::Calendar& calendar, sys_days day) {
  constexpr int kLongestClosure = 14;
  for (int i = 0; i < kLongestClosure; ++i, day -= days{1}) {
    if (is_business_day(calendar, day)) return day;
  }
  throw DataError(fmt::format("[continuous] the calendar of {} knows no session up to {}",
                              calendar.product(), to_string(Date{day + days{kLongestClosure}})));
}

sys_days last_business_day(const market::Calendar& calendar, ContractMonth month) {
  return at_or_before(calendar, sys_days{std::chrono::year{month.year} /
                                         std::chrono::month{month.month} / std::chrono::last});
}

enum class Ends { kThirdFriday, kBeforeThirdWednesday, kSeventhLast, kThirdLast };

Ends rule_of(const std::string& product) {
  if (product == "ES" || product == "NQ" || product == "MES" || product == "MNQ")
    return Ends::kThirdFriday;
  if (product == "6E") return Ends::kBeforeThirdWednesday;
  if (product == "ZN") return Ends::kSeventhLast;
  if (product == "GC") return Ends::kThirdLast;
  throw ConfigError(fmt::format(
      "[continuous] when contracts of {} end is not known; known: ES, NQ, MES, MNQ, 6E, ZN, GC",
      product));
}

}  // namespace

char month_letter(unsigned month) { return kLetters.at(month - 1); }

std::optional<ContractMonth> contract_month(std::string_view symbol, Date seen) {
  const std::string root = market::product_of_symbol(symbol);
  if (root.empty() || symbol.find('.') != std::string_view::npos) return std::nullopt;
  const std::string_view tail = symbol.substr(root.size());
  ContractMonth month{.month = static_cast<unsigned>(kLetters.find(tail[0])) + 1};
  int modulo = 1;
  for (const char c : tail.substr(1)) {
    if (!is_digit(c)) return std::nullopt;
    month.year = month.year * 10 + (c - '0');
    modulo *= 10;
  }
  if (modulo == 10'000) return month;
  const int now = static_cast<int>(seen.year());
  month.year += now - now % modulo;
  const ContractMonth today{now, static_cast<unsigned>(seen.month())};
  if (month < today) month.year += modulo;
  return month;
}

Date business_days_before(const market::Calendar& calendar, Date day, int n) {
  sys_days at = at_or_before(calendar, sys_days{day});
  for (int i = 0; i < n; ++i) at = at_or_before(calendar, at - days{1});
  return Date{at};
}

Date last_trading_day(const market::Calendar& calendar, ContractMonth month) {
  switch (rule_of(calendar.product())) {
    case Ends::kThirdFriday:
      return Date{at_or_before(calendar, nth_weekday(month, std::chrono::Friday, 3))};
    case Ends::kBeforeThirdWednesday: {
      // Counted from the day before, since the Wednesday itself may be a holiday.
      const sys_days eve = nth_weekday(month, std::chrono::Wednesday, 3) - days{1};
      return business_days_before(calendar, Date{eve}, 1);
    }
    case Ends::kSeventhLast:
      return business_days_before(calendar, Date{last_business_day(calendar, month)}, 7);
    case Ends::kThirdLast:
      return business_days_before(calendar, Date{last_business_day(calendar, month)}, 2);
  }
  throw ConfigError("[continuous] a rule without a day");
}

Date last_safe_day(const market::Calendar& calendar, ContractMonth month) {
  const Ends rule = rule_of(calendar.product());
  if (rule != Ends::kSeventhLast && rule != Ends::kThirdLast)
    return last_trading_day(calendar, month);
  ContractMonth before{month.year, month.month - 1};
  if (before.month == 0) before = {month.year - 1, 12};
  return business_days_before(calendar, Date{last_business_day(calendar, before)}, 1);
}

}  // namespace foxhunt::series
