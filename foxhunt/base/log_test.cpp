#include "foxhunt/base/log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"

namespace foxhunt {
namespace {

namespace fs = std::filesystem;

class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    log::set_console_level(log::Level::kOff);
    fs::create_directories(folder_);
  }
  void TearDown() override {
    log::set_console_level(log::Level::kInfo);
    fs::remove_all(folder_);
  }

  /// The messages of a log file, after their times were found to ascend.
  static std::vector<std::string> messages(const fs::path& path) {
    std::vector<std::string> found;
    std::istringstream text(read_file(path));
    std::string before;
    for (std::string line; std::getline(text, line);) {
      const std::string time = line.substr(0, line.find(' '));
      EXPECT_EQ(time.size(), std::string("2026-11-30T02:46:00.000000Z").size()) << line;
      EXPECT_LE(before, time);
      before = time;
      found.push_back(line.substr(line.find(' ') + 1));
    }
    return found;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "foxhunt_log_test";
};

TEST_F(LogTest, AFileGetsWhatWasWrittenBeforeItWasNamed) {
  const fs::path path = folder_ / "late.txt";
  {
    log::FileSink sink;
    log::info("first {}", 1);
    log::debug("second");
    EXPECT_FALSE(fs::exists(path));
    sink.open(path);
    EXPECT_EQ(messages(path), (std::vector<std::string>{"info first 1", "debug second"}));
    log::warn("third");
  }
  log::info("behind its end");
  EXPECT_EQ(messages(path),
            (std::vector<std::string>{"info first 1", "debug second", "warning third"}));
}

TEST_F(LogTest, WithoutAFileTheLinesAreForgotten) {
  {
    const log::FileSink sink;
    log::info("of a start that was refused");
  }
  const fs::path path = folder_ / "next.txt";
  {
    const log::FileSink sink(path);
    log::info("of the next");
  }
  EXPECT_EQ(messages(path), std::vector<std::string>{"info of the next"});
}

TEST_F(LogTest, AFileThatCannotBeWrittenIsNamedAndTheLinesStay) {
  const fs::path path = folder_ / "now.txt";
  {
    log::FileSink sink;
    log::info("kept");
    EXPECT_THROW(sink.open(folder_), IoError) << "a folder";
    sink.open(path);
  }
  EXPECT_EQ(messages(path), std::vector<std::string>{"info kept"});
}

}  // namespace
}  // namespace foxhunt
