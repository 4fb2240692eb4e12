#include "foxhunt/train/bench_train/bench_journal.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder()
      : path(fs::temp_directory_path() /
             ("foxhunt_bench_journal_" + std::to_string(::getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  fs::path file() const { return path / "visits.jsonl"; }
  fs::path path;
};

const std::string kIdentity = R"({"format":"x","binary":"1"})";

std::vector<CaseRecord> empty_records() {
  return {{.which = {"cpu", "fp32", "native", 1}}, {.which = {"cpu", "fp32", "aten", 1}}};
}

/// Three visits and a case that was left out.
void write_some(const fs::path& file) {
  BenchJournal journal(file, kIdentity, false);
  std::vector<CaseRecord> records = empty_records();
  for (int i = 0; i < 3; ++i) {
    records[0].visits.push_back({.seconds = {0.5 + i, 1.0 / 3},
                                 .reference = {0.1 + i, 1.0 / 7},
                                 .reference_single = {1.0 / 9},
                                 .losses = {1.5, std::numeric_limits<double>::quiet_NaN()},
                                 .peak_bytes = 1000 + i,
                                 .other_cores = 0.5,
                                 .spent = 2.0});
    journal.add_visit(records[0]);
  }
  records[1].left_out = "out of memory at 1 windows";
  journal.add_left_out(records[1]);
}

TEST(BenchJournal, GivesBackWhatWasMeasuredToTheLastBit) {
  const Folder folder;
  write_some(folder.file());
  const BenchJournal journal(folder.file(), kIdentity, false);
  EXPECT_EQ(journal.replaced(), "");
  std::vector<CaseRecord> records = empty_records();
  EXPECT_EQ(journal.restore(records), 3);
  ASSERT_EQ(records[0].visits.size(), 3U);
  const BenchVisit& last = records[0].visits[2];
  EXPECT_EQ(last.seconds, (std::vector<double>{2.5, 1.0 / 3}));
  EXPECT_EQ(last.reference, (std::vector<double>{2.1, 1.0 / 7}));
  EXPECT_EQ(last.reference_single, std::vector<double>{1.0 / 9});
  EXPECT_EQ(last.losses[0], 1.5);
  EXPECT_TRUE(std::isnan(last.losses[1]));
  EXPECT_EQ(last.peak_bytes, 1002);
  EXPECT_EQ(last.other_cores, 0.5);
  EXPECT_EQ(last.spent, 2.0);
  EXPECT_EQ(records[1].left_out, "out of memory at 1 windows");
}

TEST(BenchJournal, AFileCutAtAnyByteGivesItsWholeLinesAndGoesOn) {
  const Folder folder;
  write_some(folder.file());
  const std::string whole = read_file(folder.file());
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    std::ofstream(folder.file(), std::ios::binary) << whole.substr(0, bytes);
    const auto lines =
        std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes), '\n');
    {
      BenchJournal journal(folder.file(), kIdentity, false);
      EXPECT_EQ(journal.replaced().empty(), lines > 0) << bytes;
      std::vector<CaseRecord> records = empty_records();
      EXPECT_EQ(journal.restore(records), std::clamp<std::int64_t>(lines - 1, 0, 3)) << bytes;
      records[1].visits.push_back({.seconds = {7}, .losses = {1}, .spent = 1});
      journal.add_visit(records[1]);
    }
    // What was appended behind a cut line is read again.
    const BenchJournal again(folder.file(), kIdentity, false);
    std::vector<CaseRecord> records = empty_records();
    EXPECT_EQ(again.restore(records), 1 + std::clamp<std::int64_t>(lines - 1, 0, 3)) << bytes;
    ASSERT_EQ(records[1].visits.size(), 1U) << bytes;
    EXPECT_EQ(records[1].visits[0].seconds, std::vector<double>{7});
  }
}

TEST(BenchJournal, AnotherMachineBinaryOrSettingBeginsANewFileAndKeepsTheOld) {
  const Folder folder;
  write_some(folder.file());
  const std::string before = read_file(folder.file());
  const std::string other = R"({"format":"x","binary":"2"})";
  const BenchJournal journal(folder.file(), other, false);
  EXPECT_THAT(journal.replaced(), testing::HasSubstr("another machine, program or setting"));
  std::vector<CaseRecord> records = empty_records();
  EXPECT_EQ(journal.restore(records), 0);
  EXPECT_EQ(read_file(folder.file()), other + "\n");
  fs::path old = folder.file();
  old += ".old";
  EXPECT_EQ(read_file(old), before);
}

TEST(BenchJournal, FreshBeginsANewFile) {
  const Folder folder;
  write_some(folder.file());
  const BenchJournal journal(folder.file(), kIdentity, true);
  std::vector<CaseRecord> records = empty_records();
  EXPECT_EQ(journal.restore(records), 0);
  EXPECT_NE(journal.replaced(), "");
}

TEST(BenchJournal, VisitsOfCasesThatAreNotAskedForAreLeftAlone) {
  const Folder folder;
  write_some(folder.file());
  const BenchJournal journal(folder.file(), kIdentity, false);
  std::vector<CaseRecord> records{{.which = {"cpu", "bf16", "native", 1}}};
  EXPECT_EQ(journal.restore(records), 0);
}

TEST(BenchJournal, ALineThatIsNoVisitIsNamed) {
  const Folder folder;
  write_file_atomic(folder.file(), kIdentity + "\n{\"case\":\"cpu/fp32/native/1\"}\n");
  const BenchJournal journal(folder.file(), kIdentity, false);
  std::vector<CaseRecord> records = empty_records();
  EXPECT_THROW(journal.restore(records), FormatError);
}

TEST(BenchJournal, AFolderThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(BenchJournal("/proc/none/visits.jsonl", kIdentity, false), IoError);
}

}  // namespace
}  // namespace foxhunt::train
