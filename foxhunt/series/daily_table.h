#pragma once
// What every contract did in every session: all that roll rules look at.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "foxhunt/market/record.h"
#include "foxhunt/series/contract_month.h"

namespace foxhunt::series {

struct ContractDay {
  std::uint64_t volume = 0;
  Price close{};             ///< of the session's last bar: the same at every bar length
  UnixNanos at = kNullTime;  ///< end of that bar, or of the session where the bar reaches beyond
};

struct ContractDays {
  std::string symbol;
  ContractMonth month;
  std::map<Date, ContractDay> days;  ///< by trade date
};

/// Memory  a few dozen bytes a contract and session.
class DailyTable {
 public:
  explicit DailyTable(market::Calendar calendar) : calendar_(std::move(calendar)) {}

  /// Bars of one contract in the order of time; contracts as they come.
  /// Errors  DataError for a symbol without a delivery month.
  void add(const std::string& symbol, const market::Bar& bar);

  /// By delivery month, the nearest first.
  std::vector<ContractDays> contracts() const;
  std::int64_t outside_session() const { return outside_; }
  UnixNanos last() const { return last_; }  ///< start of the newest bar

 private:
  market::Calendar calendar_;
  std::map<std::string, ContractDays> contracts_;
  market::Session session_{};
  std::int64_t outside_ = 0;
  UnixNanos last_ = kNullTime;
};

}  // namespace foxhunt::series
