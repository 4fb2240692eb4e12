// Real files: the clean ones have no error, and what is known to be wrong with the others is found.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "foxhunt/doctor/planted_bars.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::doctor {
namespace {

namespace fs = std::filesystem;

class RealFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (market::test::shared_folder().empty()) GTEST_SKIP() << "FOXHUNT_SHARED is not set";
  }
  static fs::path data() { return market::test::shared_folder() / "data"; }

  /// Lean's zip files as one CSV file, by tools/lean_csv.py.
  static FileReport lean(const std::string& zips, const CheckOptions& options = {}) {
    const fs::path out =
        fs::temp_directory_path() /
        ("foxhunt-lean-" +
         std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".csv");
    const std::string command = "python3 tools/lean_csv.py " + out.string() + " " +
                                (data() / "lean").string() + "/" + zips + " > /dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    FileReport report = check_file(out, options);
    fs::remove(out);
    return report;
  }
};

TEST_F(RealFiles, EsMinutesOfLeanHaveNoError) {
  const FileReport report = lean("future/cme/minute/es/*_trade.zip");
  EXPECT_EQ(test::errors_of(report), "");
  EXPECT_EQ(report.bars, 23'948);
}

TEST_F(RealFiles, FiveEsQuoteMinutesAreCrossedBeforeTheOpen) {
  const FileReport report = lean("future/cme/minute/es/*_quote.zip");
  EXPECT_EQ(test::errors_of(report), "");
  EXPECT_EQ(report.records, 47'776);
  EXPECT_EQ(test::count(report, RuleId::kCrossed) + test::count(report, RuleId::kCrossedClosed), 5);
}

TEST_F(RealFiles, HoursOfFxcmAreCrossedTooOften) {
  const FileReport report = lean("forex/fxcm/hour/eurusd.zip");
  EXPECT_EQ(report.records, 69'928);
  EXPECT_EQ(test::errors_of(report), "crossed-often 2613");
}

TEST_F(RealFiles, TheDayOnWhichBitcoinCostSixCentsIsASpike) {
  const FileReport report = lean("crypto/coinbase/daily/btcusd_trade.zip",
                                 {.read = {.csv = {.bar_seconds = 86'400, .volume_column = ""}}});
  const auto spike = test::find(report, RuleId::kSpike);
  ASSERT_TRUE(spike);
  ASSERT_EQ(spike->more.size(), 1U);
  EXPECT_TRUE(spike->more[0].starts_with("2017-04-15")) << spike->more[0];
  EXPECT_NE(spike->more[0].find("L 0.06"), std::string::npos) << spike->more[0];
}

TEST_F(RealFiles, TheSplitOfQqqIn2000IsFound) {
  const FileReport report =
      lean("equity/usa/daily/qqq.zip", {.read = {.csv = {.bar_seconds = 86'400}}});
  EXPECT_EQ(test::errors_of(report), "split 1");
  EXPECT_EQ(to_string(test::find(report, RuleId::kSplit)->first.time).substr(0, 10), "2000-03-20");
}

TEST_F(RealFiles, EuroMinutesAreStampedWithTheirEnd) {
  const fs::path file = data() / "futures/6e/6EH4.XCME_1min_bars_20240101_20240131.csv.gz";
  market::CsvFormat csv{.time_column = "timestamp_utc", .symbol = "6EH4"};
  EXPECT_EQ(test::errors_of(check_file(file, {.read = {.csv = csv}})), "wrong-stamp 22");
  csv.bar_stamp = "end";
  const FileReport right = check_file(file, {.read = {.csv = csv}});
  EXPECT_EQ(test::errors_of(right), "");
  EXPECT_EQ(test::count(right, RuleId::kMissingBars), 423) << "as counted by another program";
}

TEST_F(RealFiles, EventBarsMayEndAtOneInstant) {
  const FileReport report =
      check_file(data() / "futures/es-event-bars/imbalance_bars_3_100000.csv",
                 {.read = {.csv = {.time_column = "date_time"}}, .product = "ES"});
  EXPECT_EQ(test::errors_of(report), "");
  EXPECT_EQ(test::count(report, RuleId::kEqualStamps), 11'589);
  EXPECT_EQ(test::count(report, RuleId::kMissingBars), 0) << "they have no minutes to miss";
}

TEST_F(RealFiles, TheBookOfChristmasIsCrossedBeforeItsOpenAndOnceAtIt) {
  const FileReport report =
      check_file(data() / "futures/es-mbo/esh4-glbx-mdp3-20231225.mbo.dbn.zst");
  EXPECT_EQ(test::errors_of(report), "");
  EXPECT_EQ(report.records, 68'792);
  EXPECT_EQ(test::count(report, RuleId::kCrossedClosed), 890);
  EXPECT_EQ(test::count(report, RuleId::kCrossed), 1);
  EXPECT_EQ(test::count(report, RuleId::kUnknownOrder), 0);
}

TEST_F(RealFiles, OfAllDbnFixturesOnlyThoseOfAHundredfoldScaleAndTheLiveOneFail) {
  std::int64_t files = 0;
  std::int64_t wrong = 0;
  for (const auto& entry : fs::recursive_directory_iterator(data() / "dbn")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.ends_with(".dbz")) continue;
    const FileReport report = check_file(entry.path());
    ++files;
    const std::string folder = entry.path().parent_path().filename().string();
    const bool is_scaled = name.starts_with("test_data.ohlcv-1") &&
                           !name.starts_with("test_data.ohlcv-1d") &&
                           (folder.starts_with("databento-dbn") || folder == "databento-cpp");
    if (is_scaled) {
      EXPECT_EQ(test::errors_of(report), "wrong-scale 2") << entry.path();
      ++wrong;
    } else if (name == "test_data.live.dbn.zst") {
      // A recording of several schemas, each replayed from its own start: quotes do step back.
      EXPECT_EQ(test::errors_of(report), "back-step 2") << entry.path();
    } else {
      EXPECT_EQ(test::errors_of(report), "") << entry.path();
    }
  }
  EXPECT_EQ(files, 192);
  EXPECT_GE(wrong, 12);
}

}  // namespace
}  // namespace foxhunt::doctor
