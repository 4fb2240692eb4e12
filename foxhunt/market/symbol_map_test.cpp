#include "foxhunt/market/symbol_map.h"

#include <gtest/gtest.h>

#include "foxhunt/base/rng.h"

namespace foxhunt::market {
namespace {

SymbolInterval interval(const char* symbol, const char* start, const char* end, std::uint32_t id) {
  return {symbol, parse_date(start), parse_date(end), id};
}

TEST(SymbolMapTest, AnIdIsASymbolOnlyInItsDatasetAndOnItsDays) {
  SymbolMap map;
  map.add("GLBX.MDP3", interval("ESH1", "2021-01-04", "2021-01-06", 5));
  map.add("GLBX.MDP3", interval("NQH1", "2021-01-06", "2021-01-08", 5));
  map.add("XNAS.ITCH", interval("MSFT", "2021-01-04", "2021-01-08", 5));
  EXPECT_EQ(map.symbol("GLBX.MDP3", parse_date("2021-01-03"), 5), "");
  EXPECT_EQ(map.symbol("GLBX.MDP3", parse_date("2021-01-04"), 5), "ESH1");
  EXPECT_EQ(map.symbol("GLBX.MDP3", parse_date("2021-01-05"), 5), "ESH1");
  EXPECT_EQ(map.symbol("GLBX.MDP3", parse_date("2021-01-06"), 5), "NQH1") << "the end is exclusive";
  EXPECT_EQ(map.symbol("GLBX.MDP3", parse_date("2021-01-08"), 5), "");
  EXPECT_EQ(map.symbol("GLBX.MDP3", parse_date("2021-01-05"), 4), "");
  EXPECT_EQ(map.symbol("XNAS.ITCH", parse_date("2021-01-05"), 5), "MSFT");
  EXPECT_EQ(map.symbol("OPRA.PILLAR", parse_date("2021-01-05"), 5), "");
}

TEST(SymbolMapTest, TheDayIsTheUtcDayOfTheTime) {
  SymbolMap map;
  map.add("D", interval("ESH1", "2021-01-04", "2021-01-05", 5));
  EXPECT_EQ(map.symbol("D", parse_time("2021-01-03T23:59:59.999999999"), 5), "");
  EXPECT_EQ(map.symbol("D", parse_time("2021-01-04T00:00"), 5), "ESH1");
  EXPECT_EQ(map.symbol("D", parse_time("2021-01-04T23:59:59.999999999"), 5), "ESH1");
  EXPECT_EQ(map.symbol("D", parse_time("2021-01-05T00:00"), 5), "");
  EXPECT_EQ(map.symbol("D", kNullTime, 5), "");
}

TEST(SymbolMapTest, TellsWhichSymbolsDidNotResolve) {
  SymbolMap map;
  StreamInfo info;
  info.partial = {"RTYZ7"};
  info.not_found = {"ESX9", "ESY9"};
  map.add(info);
  EXPECT_EQ(map.partial(), info.partial);
  EXPECT_EQ(map.not_found(), info.not_found);
}

/// Against a table of one cell a day.
TEST(SymbolMapTest, AnyOrderOfIntervalsIsThatOfATableOfDays) {
  constexpr int kDays = 40;
  constexpr int kIds = 3;
  const auto first = std::chrono::sys_days{parse_date("2021-01-01")};
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    SymbolMap map;
    std::string want[kIds][kDays];
    for (int i = 0; i < 12; ++i) {
      const auto id = static_cast<std::uint32_t>(rng.below(kIds));
      const int start = static_cast<int>(rng.below(kDays));
      const int end = static_cast<int>(rng.below(kDays + 1));
      const std::string symbol = "S" + std::to_string(rng.below(5));
      const SymbolInterval days{symbol, Date{first + std::chrono::days{start}},
                                Date{first + std::chrono::days{end}}, id};
      const bool wins = rng.below(3) == 0;
      wins ? map.replace("D", days) : map.add("D", days);
      for (int d = start; d < end; ++d) {
        if (wins || want[id][d].empty()) want[id][d] = symbol;
      }
    }
    for (std::uint32_t id = 0; id < kIds; ++id) {
      for (int d = 0; d < kDays; ++d) {
        ASSERT_EQ(map.symbol("D", Date{first + std::chrono::days{d}}, id), want[id][d])
            << "round " << round << ", id " << id << ", day " << d;
      }
    }
  }
}

}  // namespace
}  // namespace foxhunt::market
