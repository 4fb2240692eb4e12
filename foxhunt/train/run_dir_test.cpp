// A run's folder: who may write it, and what happens when that is cut off.
#include "foxhunt/train/run_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;

class RunDirTest : public testing::Test {
 protected:
  void SetUp() override {
    run_ = fs::path(testing::TempDir()) /
           (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "." +
            std::to_string(::getpid()));
    fs::remove_all(run_);
  }
  void TearDown() override { fs::remove_all(run_); }
  void begin_run() const { write_file_atomic(run_ / "config.resolved.toml", ""); }

  template <class Error, class Call>
  static std::string error_of(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
  }
  fs::path run_;
};

TEST_F(RunDirTest, IsNeverSharedOrOverwrittenUnasked) {
  {
    const RunDir dir = RunDir::create(run_, false);
    begin_run();
    EXPECT_THROW(RunDir::create(run_, true), ConfigError);  // locked
  }
  EXPECT_THROW(RunDir::create(run_, false), ConfigError);
  { const RunDir again = RunDir::create(run_, true); }
  EXPECT_FALSE(fs::exists(run_ / "config.resolved.toml"));
  fs::create_directories(run_);
  write_file_atomic(run_ / "precious.txt", "mine");
  EXPECT_THROW(RunDir::create(run_, true), ConfigError);  // no run there: nothing is deleted
  EXPECT_TRUE(fs::exists(run_ / "precious.txt"));
  EXPECT_THROW(RunDir::open(run_), DataError);
  EXPECT_THROW(RunDir::reopen(run_), DataError);
}

TEST_F(RunDirTest, ASecondWriterIsToldWhoTheFirstIs) {
  const RunDir first = RunDir::create(run_, false);
  begin_run();
  const std::string pid = "process " + std::to_string(::getpid());
  EXPECT_THAT(error_of<ConfigError>([this] { RunDir::create(run_, true); }),
              testing::HasSubstr(pid));
  EXPECT_THAT(error_of<ConfigError>([this] { RunDir::reopen(run_); }), testing::HasSubstr(pid));
  EXPECT_NO_THROW(RunDir::open(run_)) << "readers are welcome";
}

TEST_F(RunDirTest, WhatAKilledBeginningLeavesIsNothing) {
  { const RunDir dir = RunDir::create(run_, false); }
  write_file_atomic(run_ / "config.toml", "name = \"x\"");
  write_file_atomic(run_ / "env.json", "{}");
  write_file_atomic(run_ / "data.lock", "[]");
  write_file_atomic(run_ / "coverage.json", "{}");
  write_file_atomic(run_ / ".config.resolved.toml.tmp4711", "# sha2");
  EXPECT_THAT(error_of<DataError>([this] { RunDir::reopen(run_); }),
              testing::HasSubstr("nothing was lost"));
  { const RunDir again = RunDir::create(run_, false); }
  EXPECT_FALSE(fs::exists(run_ / "config.toml"));
  // Metrics are something, and so is what is not ours.
  std::ofstream(run_ / "metrics.jsonl") << "{}\n";
  EXPECT_THROW(RunDir::create(run_, true), ConfigError);
}

TEST_F(RunDirTest, AnOverwritingThatWasKilledIsGoneOnWith) {
  {
    const RunDir dir = RunDir::create(run_, false);
    begin_run();
  }
  fs::create_directories(run_ / "checkpoints/step-00000001");
  fs::rename(run_ / "config.resolved.toml", run_ / ".overwritten.tmp");
  EXPECT_THROW(RunDir::open(run_), DataError) << "half a run is none";
  { const RunDir again = RunDir::create(run_, false); }
  EXPECT_TRUE(fs::is_empty(run_ / "checkpoints"));
  EXPECT_FALSE(fs::exists(run_ / ".overwritten.tmp"));
}

TEST_F(RunDirTest, MetricsAreCutBackToALineAndGoOn) {
  {
    RunDir dir = RunDir::create(run_, false);
    begin_run();
    dir.append_metrics("{\"epoch\":1}");
  }
  RunDir again = RunDir::reopen(run_);
  const std::int64_t length = again.sync_metrics();
  EXPECT_EQ(length, 12);
  again.append_metrics("{\"epoch\":2}");
  std::ofstream(run_ / "metrics.jsonl", std::ios::app) << "{\"epo";  // torn by a kill
  EXPECT_TRUE(again.cut_metrics(length));
  again.append_metrics("{\"epoch\":2,\"again\":true}");
  EXPECT_EQ(read_file(run_ / "metrics.jsonl"), "{\"epoch\":1}\n{\"epoch\":2,\"again\":true}\n");
  EXPECT_FALSE(again.cut_metrics(1000));
}

// Processes, not threads: what collided was the choice of a name.
TEST_F(RunDirTest, RunsBegunAtTheSameInstantGetAFolderEach) {
  constexpr int kProcesses = 8;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 1;
      try {
        const RunDir dir = RunDir::create_below(run_, "demo");
        write_file_atomic(dir.file("mine"), std::to_string(::getpid()));
        ::usleep(200'000);
        code = read_file(dir.file("mine")) == std::to_string(::getpid()) ? 0 : 2;
      } catch (...) {
      }
      ::_exit(code);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::set<std::string> owners;
  for (const auto& entry : fs::directory_iterator(run_))
    owners.insert(read_file(entry.path() / "mine"));
  EXPECT_EQ(owners.size(), static_cast<std::size_t>(kProcesses));
}

}  // namespace
}  // namespace foxhunt::train
