#include "foxhunt/train/checkpoint_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/train/run_dir.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;

class CheckpointStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    run_ = fs::path(testing::TempDir()) /
           (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "." +
            std::to_string(::getpid()));
    fs::remove_all(run_);
  }
  void TearDown() override { fs::remove_all(run_); }
  static void write_two(const fs::path& folder) {
    write_file_atomic(folder / "model.safetensors", "weights");
    write_file_atomic(folder / "state.json", "{}");
  }
  fs::path run_;
};

TEST_F(CheckpointStoreTest, KeepsTheNewestAndTheBest) {
  const RunDir dir = RunDir::create(run_, false);
  CheckpointStore store(run_, 2);
  for (int step = 1; step <= 6; ++step) store.save(step, /*is_best=*/step == 2, write_two);
  std::vector<std::int64_t> steps;
  for (const auto& entry : store.list()) {
    steps.push_back(entry.step);
    EXPECT_EQ(entry.damage, "");
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{2, 5, 6}));
  EXPECT_EQ(store.best()->filename(), "step-00000002");
  EXPECT_EQ(fs::read_symlink(run_ / "last"), fs::path("checkpoints/step-00000006"));
}

TEST_F(CheckpointStoreTest, AFailedSaveLeavesEarlierCheckpointsAndNoRemains) {
  const RunDir dir = RunDir::create(run_, false);
  CheckpointStore store(run_, 3);
  store.save(1, true, write_two);
  EXPECT_THROW(store.save(2, true, [](const fs::path&) { throw IoError("disk full"); }), IoError);
  ASSERT_EQ(store.list().size(), 1U);
  EXPECT_EQ(store.list()[0].damage, "");
  EXPECT_EQ(std::distance(fs::directory_iterator(run_ / "checkpoints"), fs::directory_iterator()),
            1);
}

TEST_F(CheckpointStoreTest, AFileCutAtAnyByteIsNamed) {
  const RunDir dir = RunDir::create(run_, false);
  CheckpointStore store(run_, 3);
  for (const char* name : {"model.safetensors", "state.json", "DONE"}) {
    store.save(1, true, write_two);
    const fs::path file = run_ / "checkpoints/step-00000001" / name;
    const std::string whole = read_file(file);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      fs::resize_file(file, size);
      const std::string damage = store.list().at(0).damage;
      // DONE without its last newline still says everything.
      if (!(std::string(name) == "DONE" && size + 1 == whole.size())) {
        EXPECT_NE(damage, "") << name << " at " << size;
      }
      std::ofstream(file, std::ios::binary) << whole;
    }
  }
}

TEST_F(CheckpointStoreTest, AFolderWithoutItsDoneOrAFileIsNamed) {
  const RunDir dir = RunDir::create(run_, false);
  CheckpointStore store(run_, 3);
  for (const char* name : {"DONE", "state.json"}) {
    store.save(1, true, write_two);
    fs::remove(run_ / "checkpoints/step-00000001" / name);
    EXPECT_NE(store.list().at(0).damage.find(name), std::string::npos);
  }
}

TEST_F(CheckpointStoreTest, AMovedRunStillFindsItsCheckpoints) {
  {
    const RunDir dir = RunDir::create(run_, false);
    CheckpointStore(run_, 3).save(4, true, write_two);
  }
  const fs::path moved = run_.string() + "-moved";
  fs::remove_all(moved);
  fs::rename(run_, moved);
  EXPECT_TRUE(fs::exists(*CheckpointStore(moved, 3).best() / "DONE"));
  fs::remove_all(moved);
}

TEST_F(CheckpointStoreTest, ARunFolderIsNeverSharedOrOverwrittenUnasked) {
  {
    const RunDir dir = RunDir::create(run_, false);
    write_file_atomic(run_ / "config.resolved.toml", "");
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
}

}  // namespace
}  // namespace foxhunt::train
