#include "foxhunt/series/daily_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "foxhunt/base/error.h"

namespace foxhunt::series {

void DailyTable::add(const std::string& symbol, const market::Bar& bar) {
  last_ = std::max(last_, bar.start);
  if (is_null(session_.open) || bar.start < session_.open || bar.start >= session_.close) {
    const auto session = calendar_.session_at(bar.start);
    if (!session) {
      ++outside_;
      return;
    }
    session_ = *session;
  }
  ContractDays& contract = contracts_[symbol];
  if (contract.symbol.empty()) {
    const auto month = contract_month(symbol, session_.trade_date);
    if (!month) {
      throw DataError(
          fmt::format("[continuous] {}: {} is no contract of one delivery month; a continuous "
                      "series is made of contracts",
                      to_string(bar.start), symbol));
    }
    contract.symbol = symbol;
    contract.month = *month;
  }
  ContractDay& day = contract.days[session_.trade_date];
  day.volume += bar.volume;
  if (!bar.close.is_null()) {
    day.close = bar.close;
    day.at = std::min(bar.end(), session_.close);
  }
}

std::vector<ContractDays> DailyTable::contracts() const {
  std::vector<ContractDays> all;
  for (const auto& [symbol, contract] : contracts_) all.push_back(contract);
  std::ranges::sort(all, {}, &ContractDays::month);
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].month == all[i - 1].month) {
      throw DataError(fmt::format("[continuous] {} and {} are both of {}-{:02}; give one of them",
                                  all[i - 1].symbol, all[i].symbol, all[i].month.year,
                                  all[i].month.month));
    }
  }
  return all;
}

}  // namespace foxhunt::series
