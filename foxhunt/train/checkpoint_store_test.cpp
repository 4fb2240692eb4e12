// Checkpoints on disk: what keeps, what goes, and that no damage of any file passes.
#include "foxhunt/train/checkpoint_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/train/manifest.h"

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
    fs::create_directories(run_);
  }
  void TearDown() override { fs::remove_all(run_); }

  static void write_two(const fs::path& folder) {
    write_file_atomic(folder / "model.safetensors", "weights");
    write_file_atomic(folder / "state.json", "{}");
  }
  /// Files of the sizes that a checkpoint has: a large one, small ones, an empty one.
  static void write_all(const fs::path& folder) {
    write_two(folder);
    std::string large(100'000, '\0');
    Rng rng(1);
    for (char& c : large) c = static_cast<char>(rng.below(256));
    write_file_atomic(folder / "optim.safetensors", large);
    write_file_atomic(folder / "best.safetensors", "");
  }
  fs::path at(std::int64_t step) const { return run_ / "checkpoints" / fmt_name(step); }
  static std::string fmt_name(std::int64_t step) {
    std::string digits = std::to_string(step);
    return "step-" + std::string(8 - digits.size(), '0') + digits;
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(run_ / "checkpoints"))
      found.insert(entry.path().filename().string());
    return found;
  }
  static void never_best(CheckpointStore& store) {
    store.repair(store.newest(), [](const fs::path&) { return false; });
  }
  static void put(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }
  fs::path run_;
};

TEST_F(CheckpointStoreTest, KeepsTheNewestAndTheBest) {
  CheckpointStore store(run_, 2);
  for (int step = 1; step <= 6; ++step) store.save(step, /*is_best=*/step == 2, write_two);
  std::vector<std::int64_t> steps;
  for (const auto& entry : store.list()) {
    steps.push_back(entry.step);
    EXPECT_EQ(entry.damage, "");
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{2, 5, 6}));
  EXPECT_EQ(names().size(), 3U) << "nothing half removed stays";
  ASSERT_TRUE(store.best());
  EXPECT_EQ(store.best()->filename(), "step-00000002");
  EXPECT_EQ(fs::read_symlink(run_ / "last"), fs::path("checkpoints/step-00000006"));
}

TEST_F(CheckpointStoreTest, AFailedSaveLeavesEarlierCheckpointsAndNoRemains) {
  CheckpointStore store(run_, 3);
  store.save(1, true, write_two);
  EXPECT_THROW(store.save(2, true, [](const fs::path&) { throw IoError("disk full"); }), IoError);
  EXPECT_THROW(store.save(1, true, [](const fs::path&) { throw IoError("disk full"); }), IoError);
  ASSERT_EQ(store.list().size(), 1U);
  EXPECT_EQ(store.list()[0].damage, "");
  EXPECT_EQ(names(), std::set<std::string>{"step-00000001"});
}

/// Where to cut or flip a file: everywhere in a small one; at the edges and at random in a large
/// one.
std::vector<std::size_t> places_in(std::size_t size) {
  std::vector<std::size_t> places;
  if (size <= 1000) {
    for (std::size_t i = 0; i < size; ++i) places.push_back(i);
    return places;
  }
  for (std::size_t i = 0; i < 16; ++i) {
    places.push_back(i);
    places.push_back(size - 1 - i);
  }
  for (std::size_t edge = 4096; edge < size; edge += 4096) places.push_back(edge);
  Rng rng(2);
  for (int i = 0; i < 200; ++i) places.push_back(static_cast<std::size_t>(rng.below(size)));
  return places;
}

TEST_F(CheckpointStoreTest, AnyFileCutAtAnyByteIsNamed) {
  CheckpointStore store(run_, 3);
  store.save(1, true, write_all);
  for (const auto& entry : fs::directory_iterator(at(1))) {
    const std::string name = entry.path().filename().string();
    const std::string whole = read_file(entry.path());
    for (const std::size_t size : places_in(whole.size())) {
      fs::resize_file(entry.path(), size);
      EXPECT_THAT(damage_of(at(1)), testing::HasSubstr(name)) << name << " at " << size;
      put(entry.path(), whole);
    }
    put(entry.path(), whole + "x");
    EXPECT_THAT(damage_of(at(1)), testing::HasSubstr(name)) << name << " longer";
    put(entry.path(), whole);
    EXPECT_EQ(damage_of(at(1)), "");
  }
}

TEST_F(CheckpointStoreTest, AnyFlippedBitIsNamed) {
  CheckpointStore store(run_, 3);
  store.save(1, true, write_all);
  Rng rng(3);
  for (const auto& entry : fs::directory_iterator(at(1))) {
    const std::string name = entry.path().filename().string();
    const std::string whole = read_file(entry.path());
    for (const std::size_t place : places_in(whole.size())) {
      std::string flipped = whole;
      flipped[place] = static_cast<char>(flipped[place] ^ (1 << rng.below(8)));
      put(entry.path(), flipped);
      EXPECT_NE(damage_of(at(1)), "") << name << " at " << place;
    }
    put(entry.path(), whole);
  }
  EXPECT_EQ(damage_of(at(1)), "");
}

TEST_F(CheckpointStoreTest, AnyMissingFileIsNamed) {
  CheckpointStore store(run_, 3);
  store.save(1, true, write_all);
  for (const std::string name :
       {"DONE", "state.json", "model.safetensors", "optim.safetensors", "best.safetensors"}) {
    fs::rename(at(1) / name, run_ / "away");
    EXPECT_THAT(damage_of(at(1)), testing::HasSubstr(name));
    fs::create_directory(at(1) / name);
    EXPECT_NE(damage_of(at(1)), "") << "a folder is no file";
    fs::remove(at(1) / name);
    fs::rename(run_ / "away", at(1) / name);
  }
  EXPECT_EQ(damage_of(at(1)), "");
  EXPECT_NE(damage_of(run_ / "checkpoints/step-00000009"), "");
}

TEST_F(CheckpointStoreTest, TheNewestWholeOneIsTakenAndNewerOnesAreNamed) {
  CheckpointStore store(run_, 9);
  for (int step = 1; step <= 4; ++step) store.save(step, step == 1, write_two);
  fs::resize_file(at(4) / "model.safetensors", 3);
  fs::remove(at(3) / "DONE");
  const auto newest = store.newest();
  ASSERT_TRUE(newest.entry);
  EXPECT_EQ(newest.entry->step, 2);
  ASSERT_EQ(newest.skipped.size(), 2U);
  EXPECT_THAT(newest.skipped[0].damage, testing::HasSubstr("model.safetensors holds 3 bytes of 7"));
  EXPECT_THAT(newest.skipped[1].damage, testing::HasSubstr("DONE is missing"));
  for (int step = 1; step <= 2; ++step) fs::remove(at(step) / "DONE");
  EXPECT_FALSE(store.newest().entry);
}

// What a kill can leave between any two operations of save(), made by hand.
TEST_F(CheckpointStoreTest, AKillWhileAStepIsSavedAgainLeavesOneOfTheTwo) {
  CheckpointStore store(run_, 9);
  store.save(1, true, write_two);
  store.save(2, false, write_two);
  // the earlier one moved, the new one not yet there
  fs::rename(at(2), at(2).string() + ".old");
  EXPECT_EQ(store.newest().entry->step, 2);
  never_best(store);
  EXPECT_EQ(names(), (std::set<std::string>{"step-00000001", "step-00000002"}));
  EXPECT_EQ(store.newest().entry->path, at(2));
  // both there
  fs::copy(at(2), at(2).string() + ".old");
  never_best(store);
  EXPECT_EQ(names(), (std::set<std::string>{"step-00000001", "step-00000002"}));
  // both there, the new one damaged
  fs::copy(at(2), at(2).string() + ".old");
  fs::resize_file(at(2) / "state.json", 1);
  EXPECT_EQ(store.newest().entry->step, 2);
  EXPECT_EQ(store.newest().skipped.size(), 1U);
  never_best(store);
  EXPECT_EQ(store.newest().entry->path, at(2));
  EXPECT_TRUE(store.newest().skipped.empty());
}

TEST_F(CheckpointStoreTest, SavingAStepAgainNeverGoesThroughNothing) {
  CheckpointStore store(run_, 9);
  store.save(1, true, write_two);
  store.save(1, false, [this](const fs::path& folder) {
    EXPECT_EQ(damage_of(at(1)), "") << "the earlier one stays until the new one is whole";
    write_all(folder);
  });
  EXPECT_TRUE(fs::exists(at(1) / "best.safetensors"));
  EXPECT_EQ(names(), std::set<std::string>{"step-00000001"});
  fs::resize_file(at(1) / "state.json", 1);
  fs::create_directory(at(1).string() + ".old");
  store.save(1, false, write_two);
  EXPECT_EQ(damage_of(at(1)), "");
  EXPECT_EQ(names(), std::set<std::string>{"step-00000001"});
}

TEST_F(CheckpointStoreTest, RepairRemovesRemainsAndPutsLinksRight) {
  CheckpointStore store(run_, 9);
  for (int step = 1; step <= 3; ++step) store.save(step, step == 1, write_two);
  fs::create_directories(run_ / "checkpoints/.step-00000004.tmp");
  put(run_ / "checkpoints/.step-00000004.tmp/model.safetensors", "half");
  put(run_ / ".last.tmp4711", "");
  fs::resize_file(at(3) / "state.json", 1);
  fs::remove(run_ / "last");
  fs::remove(run_ / "best");
  fs::create_symlink("checkpoints/step-00000009", run_ / "best");
  store.repair(store.newest(), [this](const fs::path& folder) { return folder == at(2); });
  EXPECT_EQ(names(),
            (std::set<std::string>{"step-00000001", "step-00000002", "damaged-step-00000003"}));
  EXPECT_FALSE(fs::exists(run_ / ".last.tmp4711"));
  EXPECT_EQ(fs::read_symlink(run_ / "last"), fs::path("checkpoints/step-00000002"));
  EXPECT_EQ(fs::read_symlink(run_ / "best"), fs::path("checkpoints/step-00000002"));
  never_best(store);
  EXPECT_FALSE(fs::is_symlink(run_ / "best")) << "no link rather than a wrong one";
}

// Damaged ones do not count, or the whole ones before them would go.
TEST_F(CheckpointStoreTest, DamagedOnesTakeNoWholeOnesPlace) {
  CheckpointStore store(run_, 2);
  for (int step = 10; step <= 11; ++step) store.save(step, false, write_two);
  CheckpointStore more(run_, 9);
  for (int step = 20; step <= 22; ++step) {
    more.save(step, false, write_two);
    fs::remove(at(step) / "DONE");
  }
  never_best(store);
  store.save(12, false, write_two);
  EXPECT_EQ(store.newest().entry->step, 12);
  EXPECT_TRUE(store.newest().skipped.empty());
  EXPECT_EQ(damage_of(at(11)), "");
}

TEST_F(CheckpointStoreTest, AMovedRunStillFindsItsCheckpoints) {
  CheckpointStore(run_, 3).save(4, true, write_two);
  const fs::path moved = run_.string() + "-moved";
  fs::remove_all(moved);
  fs::rename(run_, moved);
  EXPECT_TRUE(fs::exists(*CheckpointStore(moved, 3).best() / "DONE"));
  fs::remove_all(moved);
}

}  // namespace
}  // namespace foxhunt::train
