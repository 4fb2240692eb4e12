#include "foxhunt/market/definition_table.h"

#include <gtest/gtest.h>

namespace foxhunt::market {
namespace {

Definition es(const char* at, std::int64_t tick, char action = 'A') {
  return {.instrument = {1, 5},
          .ts_recv = parse_time(at),
          .raw_symbol = "ESH1",
          .instrument_class = 'F',
          .update_action = action,
          .min_price_increment = {tick},
          .unit_of_measure_qty = {50'000'000'000}};
}

TEST(DefinitionTableTest, GivesWhatWasKnownThenAndNothingLater) {
  DefinitionTable table;
  table.add("D", es("2021-01-04T12:00", 2));
  table.add("D", es("2021-01-04T10:00", 1));  // out of order
  table.add("D", es("2021-01-04T14:00", 3, 'D'));
  const auto tick = [&](const char* at) {
    const Definition* d = table.at("D", 5, parse_time(at));
    return d == nullptr ? 0 : d->min_price_increment.nano;
  };
  EXPECT_EQ(tick("2021-01-04T09:59:59.999999999"), 0);
  EXPECT_EQ(tick("2021-01-04T10:00"), 1);
  EXPECT_EQ(tick("2021-01-04T11:59"), 1);
  EXPECT_EQ(tick("2021-01-04T12:00"), 2);
  EXPECT_EQ(tick("2021-01-04T14:00"), 0) << "deleted";
  EXPECT_EQ(table.at("E", 5, parse_time("2021-01-04T12:00")), nullptr) << "another dataset";
  EXPECT_EQ(table.at("D", 6, parse_time("2021-01-04T12:00")), nullptr);
  EXPECT_EQ(table.at("D", 5, kNullTime), nullptr);
}

TEST(DefinitionTableTest, IsNotCarriedIntoAnotherDayUnlessAsked) {
  DefinitionTable strict;
  DefinitionTable carried(std::chrono::days{1});
  strict.add("D", es("2021-01-04T10:00", 1));
  carried.add("D", es("2021-01-04T10:00", 1));
  EXPECT_NE(strict.at("D", 5, parse_time("2021-01-04T23:59:59")), nullptr);
  EXPECT_EQ(strict.at("D", 5, parse_time("2021-01-05T00:00")), nullptr);
  EXPECT_NE(carried.at("D", 5, parse_time("2021-01-05T23:59")), nullptr);
  EXPECT_EQ(carried.at("D", 5, parse_time("2021-01-06T00:00")), nullptr);
}

TEST(DefinitionTableTest, ADefinitionWithoutATimeIsCountedAndLeftOut) {
  DefinitionTable table;
  Definition undated = es("2021-01-04T10:00", 1);
  undated.ts_recv = kNullTime;
  table.add("D", undated);
  EXPECT_EQ(table.undated(), 1);
  EXPECT_EQ(table.at("D", 5, parse_time("2021-01-04T10:00")), nullptr);
}

TEST(DefinitionTableTest, OnlyAFutureOfItsOwnIsAnOutright) {
  Definition d = es("2021-01-04T10:00", 1);
  EXPECT_TRUE(is_outright_future(d));
  EXPECT_EQ(multiplier_of(d).nano, 50'000'000'000);
  for (const char other : {'S', 'T', 'C', 'P', 'M', 'K', '?'}) {
    d.instrument_class = other;
    EXPECT_FALSE(is_outright_future(d)) << other;
  }
}

}  // namespace
}  // namespace foxhunt::market
