// Faults planted in the bytes of files: cut short, damaged, of another format, rows that break the
// rules, files that do not fit to each other.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "foxhunt/base/file.h"
#include "foxhunt/doctor/planted_bars.h"

namespace foxhunt::doctor {
namespace {

namespace fs = std::filesystem;

class PlantedInBytes : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("foxhunt-doctor-" +
               std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path put(const std::string& name, const std::string& bytes) const {
    write_file_atomic(folder_ / name, bytes);
    return folder_ / name;
  }
  static std::string sample() { return read_file("data/es-sample/es-ohlcv-1m.dbn.zst"); }

  /// Minutes of ES as CSV, from 2013-10-08 on.
  static std::string csv(std::size_t rows, double from = 1670.25) {
    std::string text = "ts_event,open,high,low,close,volume\n";
    for (std::size_t i = 0; i < rows; ++i) {
      const double price = from + 0.25 * static_cast<double>(i % 7);
      const UnixNanos t = parse_time("2013-10-07T22:00") + std::chrono::minutes{i};
      text += to_string(t) + "," + std::to_string(price) + "," + std::to_string(price + 0.5) + "," +
              std::to_string(price - 0.5) + "," + std::to_string(price) + "," +
              std::to_string(10 + i % 5) + "\n";
    }
    return text;
  }

  fs::path folder_;
};

TEST_F(PlantedInBytes, AFileCutShortIsTruncatedAndWhatIsWholeIsChecked) {
  const std::string whole = sample();
  const FileReport report = check_file(put("cut.dbn.zst", whole.substr(0, whole.size() / 2)));
  EXPECT_EQ(test::errors_of(report), "truncated 1");
  EXPECT_GT(report.bars, 1000);
  EXPECT_LT(report.bars, 19'083);
}

TEST_F(PlantedInBytes, AFlippedByteOfAFrameIsUnreadableAndNamesItsPlace) {
  std::string bytes = sample();
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  const FileReport report = check_file(put("bent.dbn.zst", bytes));
  const auto found = test::find(report, RuleId::kUnreadable);
  ASSERT_TRUE(found) << test::errors_of(report);
  EXPECT_EQ(found->count, 1);
  EXPECT_EQ(found->first.record, report.bars + 1);
  EXPECT_NE(found->example.find("bent.dbn.zst"), std::string::npos) << found->example;
}

TEST_F(PlantedInBytes, OtherFormatsAreUnreadableByName) {
  for (const auto& [bytes, word] :
       {std::pair<std::string, std::string>{std::string("DBZ\x01") + std::string(60, '\0'), "DBZ"},
        {std::string("PK\x03\x04") + std::string(60, '\0'), "zip"},
        {"PAR1" + std::string(60, '\0'), "Parquet"},
        {"", "empty"}}) {
    const FileReport report = check_file(put("other", bytes));
    const auto found = test::find(report, RuleId::kUnreadable);
    ASSERT_TRUE(found) << word;
    EXPECT_NE(found->example.find(word), std::string::npos) << found->example;
    EXPECT_TRUE(report.has_errors());
  }
}

TEST_F(PlantedInBytes, ARowThatBreaksTheRulesIsNamedByItsLine) {
  std::string text = csv(300);
  const std::size_t at = text.find("2013-10-07T23:40:00Z");
  ASSERT_NE(at, std::string::npos);
  text.replace(text.find(',', at) + 1, 4, "16x0");
  const FileReport report = check_file(put("row.csv", text), {.product = "ES"});
  const auto found = test::find(report, RuleId::kUnreadable);
  ASSERT_TRUE(found) << test::errors_of(report);
  EXPECT_EQ(found->first.line, 102) << "100 minutes behind the first one, on line 2";
  EXPECT_NE(found->example.find(":102:"), std::string::npos) << found->example;
  EXPECT_EQ(report.bars, 100);
}

TEST_F(PlantedInBytes, RecordsOfAnUnknownTypeAreCounted) {
  std::string record(56, '\0');
  record[0] = 14;
  record[1] = static_cast<char>(0xEE);
  // A fragment: bars without metadata, then two records of a type that does not exist.
  std::string bar(56, '\0');
  bar[0] = 14;
  bar[1] = 0x21;
  const FileReport report =
      check_file(put("types.frag", bar + bar + record + record), {.read = {.dbn_version = 3}});
  EXPECT_EQ(test::count(report, RuleId::kUnknownType), 2);
}

TEST_F(PlantedInBytes, OneFileTwiceOverlapsItself) {
  const fs::path one = put("one.csv", csv(300));
  const fs::path two = put("two.csv", csv(300));
  const auto reports = check_files({one, two}, {.product = "ES"});
  EXPECT_EQ(test::count(reports[0], RuleId::kSameFile), 0);
  EXPECT_EQ(test::count(reports[1], RuleId::kSameFile), 1);
  EXPECT_EQ(test::count(reports[1], RuleId::kFileOverlap), 0) << "said once";
}

TEST_F(PlantedInBytes, FilesThatOverlapOrChangeTheirScaleAreFound) {
  const fs::path one = put("one.csv", csv(300));
  const fs::path two = put("two.csv", csv(310, 16'702.5));
  const auto reports = check_files({one, two}, {.product = "ES"});
  EXPECT_EQ(test::errors_of(reports[0]), "");
  EXPECT_EQ(test::errors_of(reports[1]), "scale-between-files 1");
  EXPECT_EQ(test::count(reports[1], RuleId::kFileOverlap), 1);
}

TEST_F(PlantedInBytes, ReportsSayTheSameInEveryForm) {
  std::string text = csv(300);
  const auto reports =
      check_files({put("<b>.csv", text + text.substr(text.find('\n') + 1, 60))}, {.product = "ES"});
  const std::string errors = test::errors_of(reports[0]);
  EXPECT_NE(to_text(reports).find("FAILED"), std::string::npos);
  EXPECT_NE(to_json(reports).find("\"passed\": false"), std::string::npos);
  const std::string page = to_html(reports);
  EXPECT_EQ(page.find("<b>.csv"), std::string::npos) << "names of files are escaped";
  EXPECT_NE(page.find("&lt;b&gt;.csv"), std::string::npos);
  EXPECT_EQ(page.find("=\"http://"), std::string::npos) << "asks no network for anything";
  EXPECT_EQ(page.find("=\"https://"), std::string::npos);
}

}  // namespace
}  // namespace foxhunt::doctor
