#include "foxhunt/columns/split.h"

#include <gtest/gtest.h>

#include <cstring>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/merge.h"
#include "foxhunt/columns/test_support.h"
#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/dbn/venue_records.h"

namespace foxhunt::columns {
namespace {

namespace fs = std::filesystem;
using market::dbn::OhlcvMsg;

constexpr std::uint64_t kDay = 86'400'000'000'000;
constexpr std::uint64_t kFirst = 18'628;  // 2021-01-01

/// `days` days of bars of `instruments` instruments, no two at one time.
fs::path write_market(const fs::path& folder, std::uint64_t days, std::uint32_t instruments) {
  market::DbnMetadata m;
  m.dataset = "TEST";
  m.schema = 6;
  m.stype_in = 1;
  m.start = kFirst * kDay;
  for (std::uint32_t i = 0; i < instruments; ++i) {
    const std::string symbol = "S" + std::to_string(i);
    m.symbols.push_back(symbol);
    if (i + 1 < instruments) {  // the last one is not mapped
      m.mappings.push_back({symbol, {{20210101, 20220101, std::to_string(i)}}});
    }
  }
  const fs::path file = folder / "market.dbn";
  const auto sink = open_sink(file, m, {});
  for (std::uint64_t day = 0; day < days; ++day) {
    for (std::uint64_t k = 0; k < 3; ++k) {
      for (std::uint32_t i = 0; i < instruments; ++i) {
        OhlcvMsg bar{};
        bar.hd = {sizeof bar / 4, 0x21, 1, i, (kFirst + day) * kDay + k * 1'000 + i};
        bar.volume = day * 100 + k;
        sink->write({.bytes = std::as_bytes(std::span(&bar, 1)), .rtype = 0x21});
      }
    }
  }
  sink->finish();
  return file;
}

std::string records_of(const fs::path& file) {
  std::string bytes = read_file(file);
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 4, sizeof length);
  return bytes.substr(8 + length);
}

std::vector<fs::path> files_of(const SplitReport& report) {
  std::vector<fs::path> files;
  for (const SplitPart& part : report.parts) files.push_back(part.file);
  return files;
}

class SplitBack : public testing::TestWithParam<SplitBy> {};

TEST_P(SplitBack, AndMergedIsTheOriginalByteForByte) {
  const test::Folder folder("split");
  const fs::path file = write_market(folder.path, 4, 5);
  const SplitReport report = split_file(file, folder.path / "parts", {.by = GetParam()});
  EXPECT_EQ(report.records, 60);
  merge_files(files_of(report), folder.path / "back.dbn");
  EXPECT_TRUE(records_of(file) == records_of(folder.path / "back.dbn"));
}

INSTANTIATE_TEST_SUITE_P(By, SplitBack,
                         testing::Values(SplitBy::kDay, SplitBy::kSymbol, SplitBy::kInstrument,
                                         SplitBy::kSchema));

TEST(Split, MetadataOfDaysAndSchemasMergesBackToo) {
  const test::Folder folder("whole");
  const fs::path file = write_market(folder.path, 1, 2);
  const SplitReport report =
      split_file(file, folder.path, {.by = SplitBy::kSchema, .compress = false});
  ASSERT_EQ(report.parts.size(), 1U);
  EXPECT_EQ(report.parts[0].file.filename(), "market.ohlcv-1m.dbn");
  EXPECT_TRUE(read_file(file) == read_file(report.parts[0].file));
}

TEST(Split, MorePartsThanMayBeOpenAreTheSameParts) {
  const test::Folder folder("many");
  const fs::path file = write_market(folder.path, 2, 9);
  const SplitReport few = split_file(
      file, folder.path / "few", {.by = SplitBy::kInstrument, .compress = false, .most_open = 2});
  const SplitReport all =
      split_file(file, folder.path / "all", {.by = SplitBy::kInstrument, .compress = false});
  ASSERT_EQ(few.parts.size(), 9U);
  ASSERT_EQ(all.parts.size(), 9U);
  EXPECT_EQ(few.records, all.records);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(few.parts[i].key, all.parts[i].key);
    EXPECT_EQ(few.parts[i].records, 6);
    EXPECT_TRUE(read_file(few.parts[i].file) == read_file(all.parts[i].file));
  }
}

TEST(Split, BySymbolNamesWhatTheMapDoesNotKnowById) {
  const test::Folder folder("symbol");
  const fs::path file = write_market(folder.path, 1, 3);
  const SplitReport report =
      split_file(file, folder.path, {.by = SplitBy::kSymbol, .compress = false});
  ASSERT_EQ(report.parts.size(), 3U);
  EXPECT_EQ(report.parts[0].key, "S0");
  EXPECT_EQ(report.parts[2].key, "id-2");
  const auto stream = market::dbn::open_stream(report.parts[1].file);
  EXPECT_EQ(stream.metadata().symbols, std::vector<std::string>{"S1"});
  ASSERT_EQ(stream.metadata().mappings.size(), 1U);
  EXPECT_EQ(stream.metadata().mappings[0].raw_symbol, "S1");
}

TEST(Split, ByDayNarrowsTheRange) {
  const test::Folder folder("day");
  const fs::path file = write_market(folder.path, 3, 1);
  const SplitReport report = split_file(file, folder.path, {.compress = false});
  ASSERT_EQ(report.parts.size(), 3U);
  EXPECT_EQ(report.parts[1].key, "2021-01-02");
  const auto stream = market::dbn::open_stream(report.parts[1].file);
  EXPECT_EQ(stream.metadata().start, (kFirst + 1) * kDay);
  EXPECT_EQ(stream.metadata().end, (kFirst + 2) * kDay);
}

TEST(Split, TakesOnlyWhatWasAskedForAndRefusesWhatIsNotThere) {
  const test::Folder folder("only");
  const fs::path file = write_market(folder.path, 2, 3);
  SplitOptions options{.by = SplitBy::kSymbol, .only = {"S1"}, .compress = false};
  const SplitReport report = split_file(file, folder.path / "a", options);
  ASSERT_EQ(report.parts.size(), 1U);
  EXPECT_EQ(report.records, 6);
  EXPECT_EQ(report.left_out, 12);
  options.only = {"S1", "ES.c.0"};
  EXPECT_THROW(split_file(file, folder.path / "b", options), DataError);
  EXPECT_TRUE(fs::is_empty(folder.path / "b"));
}

TEST(Split, NeverReplacesSilently) {
  const test::Folder folder("again");
  const fs::path file = write_market(folder.path, 1, 1);
  split_file(file, folder.path, {});
  EXPECT_THROW(split_file(file, folder.path, {}), DataError);
  EXPECT_EQ(split_file(file, folder.path, {.overwrite = true}).records, 3);
}

}  // namespace
}  // namespace foxhunt::columns
