#include "foxhunt/base/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"

namespace foxhunt {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "." +
               std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(FileTest, ReadsBackWhatWasWrittenAndLeavesNoTemporary) {
  const std::string bytes("a\0b\n", 4);
  write_file_atomic(folder_ / "x", bytes);
  write_file_atomic(folder_ / "x", bytes + "2");
  EXPECT_EQ(read_file(folder_ / "x"), bytes + "2");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(FileTest, ReadsFilesOfAnySizeAndThoseThatDoNotSayTheirs) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{1} << 20}) {
    const std::string bytes(size, 'x');
    write_file_atomic(folder_ / "x", bytes);
    EXPECT_EQ(read_file(folder_ / "x"), bytes) << size;
  }
  if (!fs::exists("/proc/self/maps")) GTEST_SKIP() << "no /proc";
  const std::string maps = read_file("/proc/self/maps");  // its size is 0
  EXPECT_GT(maps.size(), 4096U);
  EXPECT_EQ(maps.back(), '\n');
}

TEST_F(FileTest, DoesNotTakeAFolderForAnEmptyFile) {
  try {
    read_file(folder_);
    FAIL();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot be read: Is a directory"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(read_file(folder_ / "absent"), IoError);
}

TEST_F(FileTest, FailsByNameWhereNothingCanBeWritten) {
  try {
    write_file_atomic(folder_ / "none" / "x", "1");
    FAIL();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("none/x: cannot be created: No such file"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(FileTest, ADiskThatIsFullLeavesTheOldFile) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  write_file_atomic(folder_ / "x", "old");
  // The rename target stays; the write itself goes to a temporary name that we make unwritable by
  // size.
  EXPECT_THROW(write_file_atomic("/dev/full/x", "new"), IoError);
  EXPECT_EQ(read_file(folder_ / "x"), "old");
}

TEST_F(FileTest, ALinkIsReplacedInOneStep) {
  replace_symlink(folder_ / "best", "step-1");
  replace_symlink(folder_ / "best", "step-2");
  EXPECT_EQ(fs::read_symlink(folder_ / "best"), "step-2");
}

TEST(Sha256Test, MeetsThePublishedVectors) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace foxhunt
