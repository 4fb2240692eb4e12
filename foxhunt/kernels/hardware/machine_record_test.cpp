#include "foxhunt/kernels/hardware/machine_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"

namespace foxhunt::kernels {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

ReadRate rate(double median) {
  return {.median = median, .best = median * 1.03, .spread = 0.1, .bytes = 4096, .samples = 7};
}
/// 1/3: no short decimal fraction, so that a rounded number would show.
Bandwidth rates(double scale) {
  return {.l1 = rate(scale / 3.0), .l2 = rate(scale / 7.0), .l3 = rate(scale / 11.0), .dram = {}};
}
Machine machine(const char* cpu) {
  Machine one;
  one.cpu_model = cpu;
  return one;
}

class MachineRecordTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / "machine_record" /
            (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "." +
             std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
    folder_ = root_ / "cache" / "foxhunt";
  }
  void TearDown() override { fs::remove_all(root_); }

  RecordResult ask(const char* cpu, bool anew = false) {
    return machine_record(machine(cpu),
                          {.folder = folder_, .now = "2026-01-02T03:04:05Z", .measure_anew = anew},
                          [this] { return rates(++measured_); });
  }
  void overwrite(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  fs::path root_;
  std::optional<fs::path> folder_;
  int measured_ = 0;
};

TEST_F(MachineRecordTest, JsonReadsBackToTheSameBits) {
  const MachineRecord record{.fingerprint = "0123456789abcdef",
                             .cpu_model = "A \"quoted\" CPU",
                             .measured_at = "2026-01-02T03:04:05Z",
                             .bandwidth = rates(1000.0)};
  EXPECT_EQ(machine_record_from_json(to_json(record)), record);
}

TEST_F(MachineRecordTest, ACpuNameThatIsNoUnicodeIsStoredAllTheSame) {
  EXPECT_NE(to_json({.fingerprint = "", .cpu_model = "\xff", .measured_at = "", .bandwidth = {}}),
            "");
}

TEST_F(MachineRecordTest, IsMeasuredOnceAndThenRead) {
  const RecordResult first = ask("a");
  EXPECT_TRUE(first.measured);
  EXPECT_EQ(first.note, "");
  EXPECT_TRUE(fs::is_regular_file(first.path));
  EXPECT_EQ(std::distance(fs::directory_iterator(*folder_), fs::directory_iterator()), 1);
  const RecordResult second = ask("a");
  EXPECT_FALSE(second.measured);
  EXPECT_EQ(measured_, 1);
  EXPECT_EQ(second.record, first.record);
  EXPECT_EQ(second.path, first.path);
}

TEST_F(MachineRecordTest, OnRequestItIsMeasuredAnewAndReplaced) {
  ask("a");
  EXPECT_TRUE(ask("a", /*anew=*/true).measured);
  EXPECT_EQ(ask("a").record.bandwidth, rates(2));
  EXPECT_EQ(measured_, 2);
}

TEST_F(MachineRecordTest, AnotherCpuHasItsOwnRecord) {
  const RecordResult a = ask("a");
  const RecordResult b = ask("b");
  EXPECT_NE(a.path, b.path);
  EXPECT_EQ(ask("a").record.bandwidth, rates(1));
  EXPECT_EQ(ask("b").record.bandwidth, rates(2));
  EXPECT_EQ(measured_, 2);
}

TEST_F(MachineRecordTest, ARecordOfAnotherCpuUnderThisNameIsNotUsed) {
  const RecordResult a = ask("a");
  const RecordResult b = ask("b");
  fs::copy_file(a.path, b.path, fs::copy_options::overwrite_existing);
  const RecordResult again = ask("b");
  EXPECT_TRUE(again.measured);
  EXPECT_THAT(again.note, HasSubstr("is of another CPU (a)"));
  EXPECT_FALSE(ask("b").measured) << "the wrong one was replaced";
}

TEST_F(MachineRecordTest, ADamagedFileIsMeasuredAnewAndReplaced) {
  const fs::path path = ask("a").path;
  const std::string good = read_file(path);
  std::string other_format = good;
  other_format.replace(other_format.find("\"format\": 1"), 11, "\"format\": 0");
  std::string negative = good;
  negative.replace(negative.find("median\": 0"), 10, "median\": -1");
  std::string text_for_number = good;
  text_for_number.replace(text_for_number.find("samples\": 7"), 11, "samples\": \"7\"");
  for (const std::string& bad :
       {std::string(), good.substr(0, good.size() / 2), std::string("[]"), std::string("{}"),
        std::string("null"), std::string("\xff\0{", 3), other_format, negative, text_for_number}) {
    overwrite(path, bad);
    const RecordResult result = ask("a");
    EXPECT_TRUE(result.measured) << bad;
    EXPECT_THAT(result.note, HasSubstr(path.string())) << bad;
    EXPECT_FALSE(ask("a").measured) << "replaced after: " << bad;
  }
}

TEST_F(MachineRecordTest, AFolderThatCannotBeMadeIsSaidAndNoError) {
  overwrite(root_ / "cache", "a file where the folder should be");
  for (int i = 1; i <= 2; ++i) {
    const RecordResult result = ask("a");
    EXPECT_TRUE(result.measured);
    EXPECT_EQ(result.record.bandwidth, rates(i));
    EXPECT_TRUE(result.path.empty());
    EXPECT_THAT(result.note, HasSubstr("not stored: "));
  }
}

TEST_F(MachineRecordTest, AFolderInPlaceOfTheFileIsSaidAndNoError) {
  const fs::path path = ask("a").path;
  fs::remove(path);
  fs::create_directories(path / "x");
  const RecordResult result = ask("a");
  EXPECT_TRUE(result.measured);
  EXPECT_THAT(result.note, HasSubstr("not stored: "));
}

TEST_F(MachineRecordTest, AFolderWithoutWritePermissionIsSaidAndNoError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root writes everywhere";
  fs::create_directories(*folder_);
  fs::permissions(*folder_, fs::perms::owner_read | fs::perms::owner_exec);
  const RecordResult result = ask("a");
  fs::permissions(*folder_, fs::perms::owner_all);
  EXPECT_TRUE(result.measured);
  EXPECT_THAT(result.note, HasSubstr("not stored: "));
}

TEST_F(MachineRecordTest, WithoutAHomeItIsMeasuredEachTimeAndSaidSo) {
  folder_.reset();
  EXPECT_THAT(ask("a").note, HasSubstr("neither XDG_CACHE_HOME nor HOME"));
  EXPECT_TRUE(ask("a").measured);
  EXPECT_EQ(measured_, 2);
}

TEST(RecordFolder, FollowsTheCacheFolderOfTheUser) {
  EXPECT_EQ(record_folder("/x", "/h"), fs::path("/x/foxhunt"));
  EXPECT_EQ(record_folder(nullptr, "/h"), fs::path("/h/.cache/foxhunt"));
  EXPECT_EQ(record_folder("", "/h"), fs::path("/h/.cache/foxhunt"));
  EXPECT_EQ(record_folder("relative", "/h"), fs::path("/h/.cache/foxhunt"));
  EXPECT_EQ(record_folder(nullptr, nullptr), std::nullopt);
  EXPECT_EQ(record_folder("", "here"), std::nullopt);
}

}  // namespace
}  // namespace foxhunt::kernels
