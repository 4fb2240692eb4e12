#pragma once
// Which contract a continuous series holds in which session, decided without looking ahead.

#include <string>
#include <vector>

#include "foxhunt/market/calendar.h"
#include "foxhunt/series/daily_table.h"
#include "foxhunt/series/roll_config.h"

namespace foxhunt::series {

/// From the open of session `first` on the series is `to`.
struct Roll {
  std::string rule;          ///< "calendar", "volume", "open_interest", "map", "expiry"
  Date decided{};            ///< trade date at whose close the roll was settled
  Date first{};              ///< trade date of the first session in the new contract
  UnixNanos at = kNullTime;  ///< its open
  std::string from, to;
  /// Closes of both in the newest session before `first` in which both traded; null where there is
  /// none.
  Price from_price{}, to_price{};
  Date priced{};  ///< that session
};

/// One contract's stretch of the series.
struct Stretch {
  std::string symbol;
  UnixNanos begin = kNullTime;
  UnixNanos end = kNullTime;  ///< exclusive; null: open
  double factor = 1.0;        ///< of prices, under kRatio
  std::int64_t offset = 0;    ///< to prices in 1e-9 units, under kDifference
};

struct RollPlan {
  std::vector<Stretch> stretches{};  ///< in the order of time, without a gap between
  std::vector<Roll> rolls{};         ///< rolls[i] leads from stretches[i] to stretches[i + 1]
  /// Contracts that calendar or map want, of which there is no bar.
  std::vector<std::string> not_found{};
};

/// Errors  ConfigError: product, months, days_before; DataError: no contract takes part; adjustment
///         asked for where a roll has no common session, or by ratio at a price of 0 or below.
RollPlan plan_rolls(const std::vector<ContractDays>& contracts, const RollConfig& config,
                    const market::Calendar& calendar);

}  // namespace foxhunt::series
