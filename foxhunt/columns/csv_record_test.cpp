#include "foxhunt/columns/csv_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/csv_row.h"
#include "foxhunt/market/byte_source.h"
#include "foxhunt/market/dbn/venue_records.h"

namespace foxhunt::columns {
namespace {

using market::dbn::OhlcvMsg;
using ::testing::HasSubstr;

const std::string kHeader =
    "ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume\n";

std::vector<OhlcvMsg> read(const std::string& text, std::optional<int> rtype = {}) {
  market::CsvRows rows(market::memory_bytes(text, "bars.csv"), ',');
  rows.next();
  CsvRecord records(rows, rtype);
  std::vector<OhlcvMsg> bars;
  for (auto bytes = records.next(); !bytes.empty(); bytes = records.next()) {
    EXPECT_EQ(bytes.size(), sizeof(OhlcvMsg));
    std::memcpy(&bars.emplace_back(), bytes.data(), sizeof(OhlcvMsg));
  }
  return bars;
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(CsvRecord, ReadsByNameInAnyOrder) {
  const auto bars = read(
      "volume,close,low,high,open,instrument_id,publisher_id,rtype,ts_event\n"
      "7,4.5,-3.000000001,2.0,,5482,1,33,2020-12-28T13:00:00.000000001Z\n");
  ASSERT_EQ(bars.size(), 1U);
  EXPECT_EQ(bars[0].hd.length, 14);
  EXPECT_EQ(bars[0].hd.rtype, 0x21);
  EXPECT_EQ(bars[0].hd.instrument_id, 5482U);
  EXPECT_EQ(bars[0].hd.ts_event, 1'609'160'400'000'000'001U);
  EXPECT_EQ(bars[0].open, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(bars[0].high, 2'000'000'000);
  EXPECT_EQ(bars[0].low, -3'000'000'001);
  EXPECT_EQ(bars[0].close, 4'500'000'000);
  EXPECT_EQ(bars[0].volume, 7U);
}

TEST(CsvRecord, TakesTheTypeThatIsNamedWhereNoColumnSaysIt) {
  const std::string text =
      "ts_event,publisher_id,instrument_id,open,high,low,close,volume\n1,1,2,3,4,5,6,7\n";
  EXPECT_THAT(refusal(text), HasSubstr("bars.csv:1:1: no column rtype"));
  EXPECT_EQ(read(text, 0x20).at(0).hd.rtype, 0x20);
}

TEST(CsvRecord, NamesThePlaceTheValueAndTheRule) {
  const auto row = [](const std::string& cells) { return refusal(kHeader + cells + "\n"); };
  const std::string good = "1,33,1,5482,1,2,3,4,5\n";
  EXPECT_THAT(row("x,33,1,5482,1,2,3,4,5"),
              HasSubstr("bars.csv:2:1: ts_event 'x' is no whole number"));
  EXPECT_THAT(row("1,33,65536,5482,1,2,3,4,5"),
              HasSubstr("bars.csv:2:6: publisher_id '65536' lies outside 0 to 65535"));
  EXPECT_THAT(row("1,33,1,5482,1,2,3,4"),
              HasSubstr("bars.csv:2:1: 8 fields, but the header has 9"));
  EXPECT_THAT(row(good + "1,33,1,5482,1.5,2,3,4,5"),
              HasSubstr("bars.csv:3:13: open '1.5' is no integer, but rows before had"));
  EXPECT_THAT(row("1,33,1,5482,1.5,2,3,4,5\n1,33,1,5482,1,2,3,4,5"),
              HasSubstr("bars.csv:3:13: open '1' is an integer, but rows before had decimals"));
  EXPECT_THAT(row("1,33,1,5482,1.0000000001,2,3,4,5"), HasSubstr("up to 9 decimals"));
  EXPECT_THAT(row(good + "1,0,1,5482,1,2,3,4,5"),
              HasSubstr("bars.csv:3:3: rtype '0' is a record of another layout"));
  EXPECT_THAT(row("1,119,1,5482,1,2,3,4,5"), HasSubstr("record type 0x77 is not known"));
  EXPECT_THAT(refusal("ts_event,rtype,publisher_id\n1,33,1\n"),
              HasSubstr("also need the columns instrument_id, open, high, low, close, volume"));
  EXPECT_THAT(refusal("open," + kHeader + "1,1,33,1,5482,1,2,3,4,5\n"),
              HasSubstr("the column 'open' stands twice"));
}

TEST(CsvRecord, SaysWhichColumnsItDoesNotRead) {
  market::CsvRows rows(
      market::memory_bytes("note," + kHeader + "hello,1,33,1,5482,1,2,3,4,5\n", "bars.csv"), ',');
  rows.next();
  CsvRecord records(rows, {});
  EXPECT_EQ(records.ignored(), std::vector<std::string>{"note"});
}

TEST(CsvRecord, LettersAndTextsOfAnyBytesComeBack) {
  // A definition whose letters and texts hold what CSV has to quote or cannot show.
  std::array<std::byte, 520> record{};
  record[0] = std::byte{130};
  record[1] = std::byte{0x13};
  const auto fields = csv_columns(0x13);
  int turn = 0;
  for (const auto& field : fields) {
    std::byte* at = record.data() + field.at;
    if (field.type == market::dbn::FieldType::kChar) {
      constexpr unsigned char kLetters[] = {0, ',', '"', '\n', ' ', 0x80, 0xFF, '7', 'A'};
      *at = static_cast<std::byte>(kLetters[turn++ % 9]);
    } else if (field.type == market::dbn::FieldType::kText) {
      const char* texts[] = {"", "a,b", "\"q\"", "x\ny", " s "};
      const char* text = texts[turn++ % 5];
      std::memcpy(at, text, std::min<std::size_t>(std::strlen(text), field.size));
    }
  }
  CsvRow row(0x13, {});
  std::string text = row.header();
  std::vector<char> room(row.most());
  text.append(room.data(), row.write(record.data(), 0, {}, room.data()));
  market::CsvRows rows(market::memory_bytes(text, "defs.csv"), ',');
  rows.next();
  CsvRecord records(rows, {});
  const auto back = records.next();
  ASSERT_EQ(back.size(), record.size());
  EXPECT_TRUE(std::ranges::equal(back, record));
}

}  // namespace
}  // namespace foxhunt::columns
