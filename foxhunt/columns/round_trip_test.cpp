// DBN to another form and back is the same bytes, for every schema and every file there is.
#include <gtest/gtest.h>

#include <set>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/record_io.h"
#include "foxhunt/columns/test_support.h"
#include "foxhunt/market/dbn/stream.h"

namespace foxhunt::columns {
namespace {

using test::Folder;
namespace fs = std::filesystem;

std::set<int> types_of(const fs::path& file) {
  std::set<int> types;
  auto stream = market::dbn::open_stream(file);
  for (market::dbn::RawRecord record; stream.next(record);) types.insert(record.rtype);
  return types;
}

/// Every file and type as version 3, then through `form` and back.
void expect_same_bytes(const std::string& form, const SinkOptions& style, std::set<int>& seen) {
  const Folder folder(form);
  const fs::path v3 = folder.path / "v3.dbn";
  const fs::path table = folder.path / ("table." + form);
  const fs::path back = folder.path / "back.dbn";
  for (const fs::path& file : test::dbn_files()) {
    for (const int type : types_of(file)) {
      SCOPED_TRACE(file.string() + " type " + std::to_string(type));
      test::convert(file, v3, {.dataset = "TEST"}, {}, type);
      const test::Cleaned expected = test::cleaned(v3);
      EXPECT_EQ(test::convert(v3, table, {}, style).with_lost_bytes, expected.changed);
      test::convert(table, back, {.metadata_of = v3});
      EXPECT_TRUE(expected.bytes == read_file(back));
      seen.insert(type);
    }
  }
}

TEST(RoundTrip, CsvOfIntegersIsExact) {
  std::set<int> seen;
  expect_same_bytes("csv", {}, seen);
  EXPECT_GE(seen.size(), 7U);  // those of tests/data alone
}

TEST(RoundTrip, CsvOfDecimalsAndDatesIsExact) {
  std::set<int> seen;
  expect_same_bytes("csv", {.style = {.decimal_prices = true, .iso_times = true}}, seen);
}

TEST(RoundTrip, CompressedCsvIsExact) {
  std::set<int> seen;
  expect_same_bytes("csv.zst", {.level = 1}, seen);
}

TEST(RoundTrip, SendTimesComeBack) {
  const Folder folder("ts_out");
  const fs::path from = "tests/data/dbn/test_data.trades.v3.dbn.zst";
  const fs::path with = folder.path / "with.dbn";
  {
    const auto source = open_source(from, {});
    market::DbnMetadata metadata = source->metadata();
    metadata.ts_out = true;
    const auto sink = open_sink(with, metadata, {});
    std::uint64_t time = 1'700'000'000'000'000'001;
    for (market::dbn::RawRecord record; source->next(record); time += 7) {
      record.ts_out = time;
      sink->write(record);
    }
    sink->finish();
  }
  for (const bool pretty : {false, true}) {
    test::convert(with, folder.path / "a.csv", {},
                  {.style = {.decimal_prices = pretty, .iso_times = pretty}});
    EXPECT_NE(read_file(folder.path / "a.csv").find(",ts_out\n"), std::string::npos);
    test::convert(folder.path / "a.csv", folder.path / "back.dbn", {.metadata_of = with});
    EXPECT_TRUE(read_file(with) == read_file(folder.path / "back.dbn"));
  }
}

TEST(RoundTrip, SymbolsOfTheRowsBecomeTheMap) {
  const Folder folder("symbols");
  test::convert("tests/data/dbn/test_data.ohlcv-1m.v3.dbn.zst", folder.path / "a.csv", {},
                {.style = {.with_symbol = true}});
  const std::string text = read_file(folder.path / "a.csv");
  EXPECT_NE(text.find(",353,ESH1\n"), std::string::npos) << text;
  const auto source = open_source(folder.path / "a.csv", {.dataset = "GLBX.MDP3"});
  const market::DbnMetadata& made = source->metadata();
  ASSERT_EQ(made.mappings.size(), 1U);
  EXPECT_EQ(made.symbols, std::vector<std::string>{"ESH1"});
  EXPECT_EQ(made.mappings[0].intervals.at(0).start, 20201228U);
  EXPECT_EQ(made.mappings[0].intervals.at(0).end, 20201229U);
  EXPECT_EQ(made.mappings[0].intervals.at(0).symbol, "5482");
  EXPECT_EQ(market::schema_name(made.schema), "ohlcv-1m");
  EXPECT_EQ(made.start, 1'609'160'400'000'000'000U);
}

TEST(RoundTrip, BytesThatNoFieldHasAreCounted) {
  const Folder folder("reserved");
  const fs::path with = folder.path / "with.dbn";
  test::convert("tests/data/dbn/test_data.definition.v3.dbn.zst", with);
  std::string bytes = read_file(with);
  bytes.back() = 'x';  // reserved, of the last record
  write_file_atomic(with, bytes);
  EXPECT_EQ(test::convert(with, folder.path / "a.csv").with_lost_bytes, 1);
  EXPECT_EQ(test::convert(with, folder.path / "b.dbn").with_lost_bytes, 0);
  EXPECT_EQ(read_file(folder.path / "b.dbn"), bytes);
}

TEST(Convert, AnswersNothingWithoutRecords) {
  const Folder folder("empty");
  const fs::path out = folder.path / "a.csv";
  EXPECT_THROW(test::convert("tests/data/dbn/test_data.ohlcv-1d.v3.dbn.zst", out), DataError);
  EXPECT_THROW(test::convert("tests/data/dbn/test_data.trades.v3.dbn.zst", out, {}, {}, 0xA0),
               DataError);
  EXPECT_FALSE(fs::exists(out));
}

TEST(Convert, RefusesAnInputThatIsCutShort) {
  const Folder folder("cut");
  const std::string whole = read_file("tests/data/dbn/test_data.mbo.v3.dbn");
  write_file_atomic(folder.path / "cut.dbn", whole.substr(0, whole.size() - 1));
  const auto source = open_source(folder.path / "cut.dbn", {});
  const auto sink = open_sink(folder.path / "a.csv", source->metadata(), {});
  EXPECT_THROW(convert_records(*source, *sink, {}, false), DataError);
  EXPECT_FALSE(fs::exists(folder.path / "a.csv"));
  const auto again = open_source(folder.path / "cut.dbn", {});
  const auto other = open_sink(folder.path / "a.csv", again->metadata(), {});
  const ConvertReport report = convert_records(*again, *other, {}, true);
  EXPECT_TRUE(report.truncated);
  EXPECT_EQ(report.records, 1);
}

TEST(Convert, ATableHoldsOneLayout) {
  const Folder folder("mixed");
  const char* shared = std::getenv("FOXHUNT_SHARED");
  const fs::path live = fs::path(shared == nullptr ? "" : shared) /
                        "data/dbn/databento-python/LIVE/test_data.live.dbn.zst";
  if (!fs::exists(live)) GTEST_SKIP() << "no shared data";
  EXPECT_THROW(test::convert(live, folder.path / "a.csv", {.dataset = "TEST"}), DataError);
  const ConvertReport report =
      test::convert(live, folder.path / "a.csv", {.dataset = "TEST"}, {}, 0xA0);
  EXPECT_EQ(report.records, 5);
  EXPECT_EQ(report.left_out_by_rtype.at(0x16), 20);
}

}  // namespace
}  // namespace foxhunt::columns
