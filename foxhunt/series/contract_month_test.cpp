#include "foxhunt/series/contract_month.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_test_support.h"
#include "foxhunt/series/roll_plan.h"

namespace foxhunt::series {
namespace {

using market::Calendar;
using market::test::shared_folder;

Date day(const char* text) { return parse_date(text); }

TEST(ContractMonth, ReadsEveryLengthOfYear) {
  const Date seen = day("2013-11-18");
  EXPECT_EQ(contract_month("ESZ3", seen), (ContractMonth{2013, 12}));
  EXPECT_EQ(contract_month("ESU3", seen), (ContractMonth{2023, 9}));  // that of 2013 is over
  EXPECT_EQ(contract_month("ESH4", seen), (ContractMonth{2014, 3}));
  EXPECT_EQ(contract_month("ESH20", seen), (ContractMonth{2020, 3}));
  EXPECT_EQ(contract_month("6EM2024", seen), (ContractMonth{2024, 6}));
  EXPECT_EQ(contract_month("ESX3", seen), (ContractMonth{2013, 11}));
  EXPECT_EQ(contract_month("ES.c.0", seen), std::nullopt);
  EXPECT_EQ(contract_month("ESZ5-ESH6", seen), std::nullopt);
}

TEST(ContractMonth, Pitfall24LastTradingDaysAreThePublishedOnes) {
  // From the exchange's product calendars.
  const struct {
    const char* product;
    ContractMonth month;
    const char* last;
  } published[] = {
      {"ES", {2013, 12}, "2013-12-20"}, {"ES", {2020, 3}, "2020-03-20"},
      {"ES", {2008, 3}, "2008-03-20"},  // the third Friday was Good Friday
      {"NQ", {2024, 6}, "2024-06-21"},  {"NQ", {2024, 9}, "2024-09-20"},
      {"6E", {2024, 3}, "2024-03-18"},  {"6E", {2024, 6}, "2024-06-17"},
      {"6E", {2024, 9}, "2024-09-16"},  {"6E", {2023, 12}, "2023-12-18"},
      {"ZN", {2024, 3}, "2024-03-19"},  {"ZN", {2024, 6}, "2024-06-18"},
      {"ZN", {2024, 9}, "2024-09-19"},  {"ZN", {2023, 12}, "2023-12-19"},
      {"GC", {2024, 4}, "2024-04-26"},  {"GC", {2024, 6}, "2024-06-26"},
  };
  for (const auto& want : published) {
    EXPECT_EQ(to_string(last_trading_day(Calendar::for_product(want.product), want.month)),
              want.last)
        << want.product;
  }
  // Notices for March 2024 begin on Thursday, February 29.
  EXPECT_EQ(to_string(last_safe_day(Calendar::for_product("ZN"), {2024, 3})), "2024-02-28");
  EXPECT_EQ(to_string(last_safe_day(Calendar::for_product("ES"), {2024, 3})), "2024-03-15");
}

TEST(ContractMonth, BusinessDaysLeaveOutTheBanksHolidays) {
  const Calendar zn = Calendar::for_product("ZN");
  // Independence Day of 2026 is a Saturday, kept on the Friday; Juneteenth of 2024 a Wednesday.
  EXPECT_EQ(to_string(business_days_before(zn, day("2024-06-20"), 1)), "2024-06-18");
  EXPECT_EQ(to_string(business_days_before(zn, day("2021-06-21"), 1)), "2021-06-18");
  EXPECT_EQ(to_string(business_days_before(zn, day("2013-11-29"), 1)), "2013-11-27");
}

/// What a security identifier of Lean's holds: days since 1899-12-30 above 14 decimal places.
Date expiry_of(const std::string& id) {
  std::uint64_t value = 0;
  for (const char c : id) {
    value = value * 36 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  const auto days = static_cast<int>(value / 100'000'000'000'000ULL);
  return Date{std::chrono::sys_days{day("1899-12-30")} + std::chrono::days{days}};
}

TEST(ContractMonth, Pitfall23ExpiriesAndCalendarRollsEqualLeansMapOfFourteenYears) {
  const auto path = shared_folder() / "data/lean/future/cme/map_files/es.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const Calendar es = Calendar::for_product("ES");
  std::ifstream in(path);
  int rolls = 0;
  std::vector<ContractDays> contracts;
  std::vector<Date> last_mapped;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string date, id, exchange, mode;
    std::getline(fields, date, ',');
    std::getline(fields, id, ',');
    std::getline(fields, exchange, ',');
    std::getline(fields, mode, ',');
    if (!mode.empty() && mode.back() == '\r') mode.pop_back();
    if (mode != "0") continue;  // mode 0: mapped until the contract ends
    const Date expiry = expiry_of(id.substr(3));
    const ContractMonth month{static_cast<int>(expiry.year()),
                              static_cast<unsigned>(expiry.month())};
    EXPECT_EQ(to_string(last_trading_day(es, month)), to_string(expiry)) << line;
    const Date mapped =
        day((date.substr(0, 4) + "-" + date.substr(4, 2) + "-" + date.substr(6)).c_str());
    // Ours, too, leaves the contract on the day on which it ends: the last session in it is the
    // map's date.
    EXPECT_EQ(to_string(business_days_before(es, expiry, 1)), to_string(mapped)) << line;
    ++rolls;
    ContractDays contract{
        .symbol = "ES" + std::string(1, month_letter(month.month)) + std::to_string(month.year),
        .month = month,
        .days = {}};
    // A bar a week is enough for a rule of the calendar.
    for (auto d = std::chrono::sys_days{expiry} - std::chrono::days{80};
         d <= std::chrono::sys_days{expiry}; d += std::chrono::days{1}) {
      if (es.session_on(Date{d}))
        contract.days[Date{d}] = {.volume = 1, .close = Price{1}, .at = d};
    }
    contracts.push_back(contract);
    last_mapped.push_back(mapped);
  }
  EXPECT_GE(rolls, 50);
  const RollPlan plan = plan_rolls(contracts, {.rule = RollRule::kCalendar}, es);
  ASSERT_EQ(plan.rolls.size(), contracts.size() - 1);
  EXPECT_TRUE(plan.not_found.empty());
  for (std::size_t i = 0; i < plan.rolls.size(); ++i) {
    EXPECT_EQ(to_string(plan.rolls[i].decided), to_string(last_mapped[i]));
    EXPECT_EQ(plan.rolls[i].from, contracts[i].symbol);
    // The exchange's own day: 17:00 Chicago of the evening before, 22:00 or 23:00 UTC.
    EXPECT_EQ(plan.rolls[i].at, es.session_on(plan.rolls[i].first)->open);
  }
}

TEST(ContractMonth, RefusesProductsWithoutARule) {
  EXPECT_THROW(last_trading_day(Calendar::for_product("SI"), {2024, 3}), ConfigError);
}

}  // namespace
}  // namespace foxhunt::series
