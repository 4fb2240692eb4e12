// Processes of one host: what each is given, what becomes of their output, and whose end counts.
#include "foxhunt/ranks/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "foxhunt/base/error.h"

namespace foxhunt::ranks {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;

class Launch : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "launch-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    ::setenv("HERE", name.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// `script` in every process, with the folder of the test as $HERE.
  static LaunchOptions shell(int size, const std::string& script) {
    return {.size = size, .command = {"/bin/sh", "-c", script}};
  }
  std::string text(const std::string& name) const {
    std::ifstream in(folder / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder;
};

TEST_F(Launch, EachProcessIsToldItsPlaceWhateverWasSetBefore) {
  ::setenv("RANK", "7", 1);  // as below torchrun
  ::setenv("WORLD_SIZE", "9", 1);
  const int code = launch(shell(3,
                                "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE "
                                "$(env | grep -c '^RANK=') > $HERE/$RANK; "
                                "dirname $FOXHUNT_MEETING_FILE > $HERE/meeting$RANK; "
                                "stat -c %a $(dirname $FOXHUNT_MEETING_FILE) > $HERE/mode$RANK"));
  ::unsetenv("RANK");
  ::unsetenv("WORLD_SIZE");
  EXPECT_EQ(code, 0);
  EXPECT_EQ(text("0"), "0 3 0 3 1\n");
  EXPECT_EQ(text("1"), "1 3 1 3 1\n");
  EXPECT_EQ(text("2"), "2 3 2 3 1\n");
  std::string meeting = text("meeting0");
  EXPECT_EQ(text("meeting2"), meeting);
  ASSERT_FALSE(meeting.empty());
  EXPECT_EQ(text("mode1"), "700\n");
  meeting.pop_back();
  EXPECT_FALSE(std::filesystem::exists(meeting));
}

TEST_F(Launch, LinesOfTheOthersSayWhoseTheyAre) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  // A line comes in two writes, and the last one without an end.
  const int code = launch(shell(2, "printf 'be'; sleep 0.2; echo gun $RANK; printf end >&2"));
  const std::string out = testing::internal::GetCapturedStdout();
  const std::string err = testing::internal::GetCapturedStderr();
  EXPECT_EQ(code, 0);
  EXPECT_EQ(out, "begun 0\n");
  EXPECT_THAT(err, HasSubstr("[rank 1] begun 1\n[rank 1] end\n"));
  EXPECT_THAT(err, Not(HasSubstr("[rank 0]")));
}

TEST_F(Launch, TheFirstThatFailedGivesTheExitCode) {
  EXPECT_EQ(launch(shell(2, "exit 0")), 0);
  EXPECT_EQ(launch(shell(2, "[ $RANK = 1 ] && exit 3; exit 0")), 3);
  EXPECT_EQ(launch(shell(2,
                         "[ $RANK = 1 ] && { echo $$ > $HERE/x; mv $HERE/x $HERE/1; exit 3; }; "
                         "while [ ! -e $HERE/1 ]; do sleep 0.05; done; while kill -0 $(cat "
                         "$HERE/1) 2>&-; do sleep 0.05; done; exit 4")),
            3);
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(shell(2, "[ $RANK = 1 ] && kill -KILL $$; exit 0")), 128 + SIGKILL);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("rank 1 of 2 was killed by signal 9"));
}

TEST_F(Launch, AfterAFailureTheOthersHaveTheirGraceThenAreAskedThenKilled) {
  // Rank 1 fails when rank 0 is ready for what comes; times are bounds from below only.
  const std::string fail =
      "[ $RANK = 1 ] && { while [ ! -e $HERE/0 ]; do sleep 0.05; done; exit 3; }; ";
  const std::string wait = "; > $HERE/0; while :; do sleep 0.1; done";
  LaunchOptions options = shell(2, fail + "trap 'echo asked > $HERE/asked; exit 0' TERM" + wait);
  options.grace = milliseconds(1000);
  auto begun = steady_clock::now();
  EXPECT_EQ(launch(options), 3);
  EXPECT_GE(steady_clock::now() - begun, milliseconds(1000));
  EXPECT_EQ(text("asked"), "asked\n");

  std::filesystem::remove(folder / "0");
  options.command.back() = fail + "trap '' TERM" + wait;
  options.grace = milliseconds(200);
  begun = steady_clock::now();
  EXPECT_EQ(launch(options), 3);
  EXPECT_GE(steady_clock::now() - begun, milliseconds(5200));
}

TEST_F(Launch, ASignalIsHandedOnAndASecondOneKills) {
  // Both ranks say when they are ready, rank 1 sends the signals; rank 0 ignores the first.
  const std::string send =
      "while [ ! -e $HERE/0 ]; do sleep 0.05; done; kill -INT $PPID; sleep 1; ";
  EXPECT_EQ(launch(shell(2,
                         "[ $RANK = 0 ] && { trap 'echo int > $HERE/got; exit 5' INT; > $HERE/0; "
                         "while :; do sleep 0.05; done; }; trap '' INT; " +
                             send)),
            5);
  EXPECT_EQ(text("got"), "int\n");
  std::filesystem::remove(folder / "0");
  EXPECT_EQ(
      launch(shell(2,
                   "[ $RANK = 0 ] && { trap '' INT; > $HERE/0; while :; do sleep 0.05; done; }; "
                   "trap '' INT; " +
                       send + "kill -INT $PPID; sleep 60")),
      128 + SIGKILL);
}

TEST_F(Launch, AProgramThatIsNotThereIsSaid) {
  LaunchOptions options{.size = 2, .command = {(folder / "none").string()}};
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(options), 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the program cannot be started"));
  EXPECT_THROW(launch({.size = 0, .command = {"/bin/true"}}), UsageError);
  EXPECT_THROW(launch({.size = 1, .command = {}}), UsageError);
}

}  // namespace
}  // namespace foxhunt::ranks
