#pragma once
// Delivery months of futures: reading them out of symbols, and when a contract ends.

#include <compare>
#include <optional>
#include <string_view>

#include "foxhunt/base/time.h"
#include "foxhunt/market/calendar.h"

namespace foxhunt::series {

struct ContractMonth {
  int year = 0;
  unsigned month = 0;  ///< 1 to 12
  friend auto operator<=>(const ContractMonth&, const ContractMonth&) = default;
};

/// "ESZ3" seen in 2013 -> December 2013: of a year that is cut to one or two digits the first that
/// is not over at `seen`. nullopt where the symbol is no contract of one month ("ES.c.0").
std::optional<ContractMonth> contract_month(std::string_view symbol, Date seen);

/// The letter of a month: F January, G, H, J, K, M, N, Q, U, V, X, Z December.
char month_letter(unsigned month);

/// The day of the last session in which the contract trades, by its exchange's rule:
///   ES NQ MES MNQ  third Friday of the month (the business day before, on a holiday)
///   6E             second business day before the third Wednesday
///   ZN             seventh business day before the month's last
///   GC             third last business day of the month
/// Business days are the calendar's trade dates but for the bank holidays that trade until noon
/// (Martin Luther King, Presidents, Memorial, Juneteenth from 2022, Independence, Labor,
/// Thanksgiving).
/// Errors  ConfigError for another product.
Date last_trading_day(const market::Calendar& calendar, ContractMonth month);

/// The last day without a notice of delivery: of ZN and GC the business day before the last one of
/// the month before (when notices begin); of products settled in cash or on their last day,
/// last_trading_day. Who does not want the goods is out by then.
Date last_safe_day(const market::Calendar& calendar, ContractMonth month);

/// `n` >= 0 business days before `day`. Errors  DataError outside the calendar's years.
Date business_days_before(const market::Calendar& calendar, Date day, int n);

}  // namespace foxhunt::series
