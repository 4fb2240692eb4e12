#include "foxhunt/market/csv_symbols.h"

#include <gtest/gtest.h>

namespace foxhunt::market {
namespace {

std::string map_of(const StreamInfo& info) {
  std::string text;
  for (const SymbolInterval& i : info.mappings) {
    text += i.raw_symbol + "=" + std::to_string(i.instrument_id) + " " + to_string(i.start) + " " +
            to_string(i.end) + "\n";
  }
  return text;
}

TEST(CsvSymbols, CountsIdsFromOneInTheOrderOfAppearance) {
  CsvSymbols symbols;
  EXPECT_EQ(symbols.id_of("ESZ3"), 1U);
  EXPECT_EQ(symbols.id_of("ESH4"), 2U);
  EXPECT_EQ(symbols.id_of("ESZ3"), 1U);
}

TEST(CsvSymbols, KeepsOneIntervalASymbolFromItsFirstToItsLastUtcDay) {
  CsvSymbols symbols;
  StreamInfo info;
  EXPECT_EQ(symbols.note(info, 5, "ESZ3", parse_time("2013-10-06T22:00")), "");
  EXPECT_EQ(symbols.note(info, 5, "ESZ3", parse_time("2013-10-06T23:59")), "");
  EXPECT_EQ(symbols.note(info, 5, "ESZ3", parse_time("2013-12-03T00:00")), "");
  EXPECT_EQ(symbols.note(info, 6, "ESH4", parse_time("2013-12-03T00:00")), "");
  EXPECT_EQ(symbols.note(info, 5, "ESZ3", parse_time("2013-10-05T12:00")), "") << "out of order";
  EXPECT_EQ(map_of(info), "ESZ3=5 2013-10-05 2013-12-04\nESH4=6 2013-12-03 2013-12-04\n");
  EXPECT_EQ(info.symbols, (std::vector<std::string>{"ESZ3", "ESH4"}));
}

TEST(CsvSymbols, LetsAnIdChangeItsSymbolBetweenDaysButNotWithinOne) {
  CsvSymbols symbols;
  StreamInfo info;
  EXPECT_EQ(symbols.note(info, 5, "ESZ3", parse_time("2013-12-18T23:00")), "");
  EXPECT_EQ(symbols.note(info, 5, "ESH4", parse_time("2013-12-19T00:00")), "");
  EXPECT_EQ(symbols.note(info, 5, "ESM4", parse_time("2013-12-19T01:00")),
            "is the symbol of instrument 5, which was 'ESH4' on the same day");
  EXPECT_EQ(map_of(info), "ESZ3=5 2013-12-18 2013-12-19\nESH4=5 2013-12-19 2013-12-20\n");
}

}  // namespace
}  // namespace foxhunt::market
