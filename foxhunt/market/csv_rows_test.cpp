#include "foxhunt/market/csv_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/market/csv_test_support.h"

namespace foxhunt::market {
namespace {

using test::error_of;
using test::text_source;
using testing::ElementsAre;
using testing::IsEmpty;
using Table = std::vector<std::vector<std::string>>;

Table rows_of(const std::string& text, char delimiter = ',') {
  CsvRows rows(text_source(text), delimiter);
  Table table;
  while (rows.next()) {
    table.emplace_back();
    for (const CsvField& field : rows.fields()) table.back().emplace_back(field.text);
  }
  return table;
}

TEST(CsvRows, SplitsLinesWithAndWithoutCarriageReturnsAndALastNewline) {
  const Table want = {{"a", "b"}, {"1", ""}, {"", "2"}};
  EXPECT_EQ(rows_of("a,b\n1,\n,2\n"), want);
  EXPECT_EQ(rows_of("a,b\n1,\n,2"), want);
  EXPECT_EQ(rows_of("a,b\r\n1,\r\n,2\r\n"), want);
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                    "a,b\n1,\n,2"),
            want)
      << "byte order mark";
  EXPECT_EQ(rows_of("\n\na,b\n\r\n1,\n\n,2\n\n\n"), want) << "empty lines";
  EXPECT_EQ(rows_of("a\tb\n1\t\n\t2", '\t'), want);
}

TEST(CsvRows, TakesNothingFromNothing) {
  EXPECT_THAT(rows_of(""), IsEmpty());
  EXPECT_THAT(rows_of("\n\r\n"), IsEmpty());
}

TEST(CsvRows, ReadsQuotedFieldsByRfc4180) {
  EXPECT_EQ(rows_of("\"a,b\",\"say \"\"hi\"\"\",\"\"\n\"two\nlines\",x,\"\r\n\"\n"),
            (Table{{"a,b", "say \"hi\"", ""}, {"two\nlines", "x", "\r\n"}}));
}

TEST(CsvRows, CountsLinesAndColumnsWhereTheyStandInTheFile) {
  CsvRows rows(text_source("a,b\n\n\"two\nlines\",second\nlast,\"q\",x\n"), ',');
  rows.next();
  EXPECT_EQ(rows.line(), 1);
  rows.next();
  EXPECT_EQ(rows.line(), 3);
  EXPECT_EQ(rows.fields()[1].column, 13);
  rows.next();
  EXPECT_EQ(rows.line(), 5) << "the quoted newline counts";
  EXPECT_EQ(rows.fields()[2].column, 10);
  EXPECT_FALSE(rows.next());
  EXPECT_EQ(rows.bytes(), 35);
}

TEST(CsvRows, NamesThePlaceOfBrokenQuotes) {
  EXPECT_EQ(error_of([] { rows_of("a,b\n1,\"x"); }),
            "bars.csv:2:3: the quote that opens this field is never closed");
  EXPECT_EQ(error_of([] { rows_of("a,b\n1,x\"y\"\n"); }),
            "bars.csv:2:4: a quote inside a field that does not begin with one");
  EXPECT_EQ(error_of([] { rows_of("\"a\"b,c\n"); }), "bars.csv:1:4: text behind a closing quote");
}

TEST(CsvRows, RefusesARowWithoutEndInsteadOfLoadingTheFile) {
  const std::string text = "a,b\n1,\"" + std::string(3 * kMaxRowBytes, 'x');
  EXPECT_EQ(error_of([&] { rows_of(text); }),
            "bars.csv:2:1: the row is longer than 1048576 bytes (a quote that is never closed?)");
}

TEST(CsvRows, DropsALastLineThatATruncatedSourceMayHaveCut) {
  CsvRows rows(text_source("a,b\n1,2\n3,4", /*truncated=*/true), ',');
  EXPECT_TRUE(rows.next());
  EXPECT_TRUE(rows.next());
  EXPECT_FALSE(rows.next());
  EXPECT_EQ(rows.rest_bytes(), 3);
  EXPECT_EQ(rows.bytes(), 8);
  EXPECT_FALSE(rows.next()) << "and stays at the end";
}

/// Writes fields as RFC 4180 says: the inverse of the reader.
std::string quote(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

TEST(CsvRows, ReadsBackAnyTableThatIsWrittenByTheRules) {
  Rng rng(3);
  const std::string alphabet = "ab,\"\n\r ";
  for (int round = 0; round < 200; ++round) {
    Table table(1 + rng.below(5));
    std::string text;
    for (auto& row : table) {
      row.resize(2 + rng.below(3));
      for (std::size_t i = 0; i < row.size(); ++i) {
        for (auto n = rng.below(6); n > 0; --n) row[i] += alphabet[rng.below(alphabet.size())];
        text += (i == 0 ? "" : ",") + quote(row[i]);
      }
      text += rng.below(2) == 0 ? "\n" : "\r\n";
    }
    ASSERT_EQ(rows_of(text), table) << text;
  }
}

TEST(CsvRows, ReadsAFileLargerThanItsBuffer) {
  std::string text;
  for (int i = 0; i < 50'000; ++i)
    text += std::to_string(i) + ",\"" + std::to_string(i * 3) + "\"\n";
  CsvRows rows(text_source(text), ',');
  for (int i = 0; i < 50'000; ++i) {
    ASSERT_TRUE(rows.next());
    ASSERT_EQ(rows.fields()[0].text, std::to_string(i));
    ASSERT_EQ(rows.fields()[1].text, std::to_string(i * 3));
  }
  EXPECT_FALSE(rows.next());
  EXPECT_EQ(rows.bytes(), static_cast<std::int64_t>(text.size()));
}

}  // namespace
}  // namespace foxhunt::market
