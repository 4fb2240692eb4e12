// Finding, loading and refusing shared libraries.
#include "foxhunt/features/feature_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/features/test_plugins.h"

namespace foxhunt::features {
namespace {

namespace fs = std::filesystem;
using test::kExample;
using test::plugin;
using testing::AllOf;
using testing::HasSubstr;

/// A folder of this test, and FOXHUNT_PLUGINS as it was behind it.
class FeatureLibraryTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              ("feature_library_" +
               std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    ::unsetenv("FOXHUNT_PLUGINS");
  }
  void TearDown() override {
    ::unsetenv("FOXHUNT_PLUGINS");
    fs::remove_all(folder_);
  }
  static std::string refusal(const std::string& path) {
    try {
      FeatureLibrary::open(path);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }
  fs::path folder_;
};

TEST_F(FeatureLibraryTest, SaysWhatItIs) {
  const auto library = FeatureLibrary::open(kExample);
  EXPECT_EQ(library->id(), (Library{"user_features", "1.0", sha256_of_file(kExample)}));
  const std::vector<Column> columns = library->columns();
  ASSERT_EQ(columns.size(), 2U);
  EXPECT_EQ(columns[0].name, "range_vol_30");
  EXPECT_EQ(columns[0].warm_up, 30);
  EXPECT_EQ(columns[1].unit, "bars");
  EXPECT_EQ(columns[1].library, library->id());
}

TEST_F(FeatureLibraryTest, TheSameBytesAreLoadedOnceWhereverTheyLie) {
  const auto library = FeatureLibrary::open(kExample);
  fs::copy_file(kExample, folder_ / "copy.so");
  EXPECT_EQ(FeatureLibrary::open(kExample), library);
  EXPECT_EQ(FeatureLibrary::open((folder_ / "copy.so").string()), library);
  const auto anew = library->loaded_anew();
  EXPECT_NE(&anew->table(), &library->table());
  EXPECT_EQ(anew->id(), library->id());
}

TEST_F(FeatureLibraryTest, AFileThatIsReplacedIsAnotherLibraryAndTheLoadedOneStays) {
  const fs::path file = folder_ / "mine.so";
  fs::copy_file(kExample, file);
  const auto first = FeatureLibrary::open(file.string());
  write_file_atomic(file, read_file(plugin("random")));
  const auto second = FeatureLibrary::open(file.string());
  EXPECT_EQ(first->id().name, "user_features");
  EXPECT_EQ(std::string(first->table().name), "user_features");
  EXPECT_EQ(second->id().name, "random");
  // Overwritten in place: what is loaded does not lie in the file.
  fs::copy_file(plugin("peeks"), file, fs::copy_options::overwrite_existing);
  EXPECT_EQ(std::string(second->table().columns[0].name), "dice");
  EXPECT_EQ(FeatureLibrary::open(file.string())->id().name, "peeks");
}

TEST_F(FeatureLibraryTest, ManyAreLoadedAndLetGo) {
  const auto library = FeatureLibrary::open(plugin("peeks"));
  for (int i = 0; i < 200; ++i) {
    const auto a = library->loaded_anew();
    const auto b = FeatureLibrary::open(i % 2 == 0 ? plugin("random") : plugin("own_state"));
    EXPECT_NE(&a->table(), &library->table());
    EXPECT_EQ(b->id().name, i % 2 == 0 ? "random" : "own_state");
  }
}

TEST_F(FeatureLibraryTest, LoadingChangesNotHowTheHostComputes) {
  volatile float small = 1e-40F;  // denormal
  ASSERT_GT(small * 0.5F, 0.0F);
  EXPECT_EQ(FeatureLibrary::open(plugin("fast_math"))->id().name, "fast_math");
  EXPECT_GT(small * 0.5F, 0.0F);
}

TEST_F(FeatureLibraryTest, WhatIsNoneIsRefusedByName) {
  EXPECT_THAT(refusal("no/such.so"),
              AllOf(HasSubstr("there is no file 'no/such.so'"), HasSubstr("FOXHUNT_PLUGINS")));
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("there is no file"));
  EXPECT_THAT(refusal(""), HasSubstr("there is no file ''"));
  write_file_atomic(folder_ / "text.so", "no library");
  EXPECT_THAT(refusal((folder_ / "text.so").string()), HasSubstr("text.so: is no shared library"));
  std::string whole = read_file(kExample);
  write_file_atomic(folder_ / "text.so", std::string(whole.size(), 'x'));
  EXPECT_THAT(refusal((folder_ / "text.so").string()), HasSubstr("text.so: is no shared library"));
  for (std::size_t size = 100; size < whole.size(); size += 501) {
    write_file_atomic(folder_ / "cut.so", whole.substr(0, size));
    EXPECT_THAT(refusal((folder_ / "cut.so").string()), HasSubstr("cut.so: is cut short")) << size;
  }
  // What only the linker finds is told in its words, without where the bytes lay in memory.
  const std::size_t name = whole.find("libm.so");
  ASSERT_NE(name, std::string::npos);
  whole[name + 3] = 'Q';
  write_file_atomic(folder_ / "needs.so", whole);
  EXPECT_THAT(refusal((folder_ / "needs.so").string()),
              AllOf(HasSubstr("needs.so: cannot be loaded: "), HasSubstr("libQ.so"),
                    testing::Not(HasSubstr("/proc/"))));
  EXPECT_THAT(refusal(plugin("no_symbol")), HasSubstr("exports no foxhunt_features_v1"));
  EXPECT_THAT(refusal(plugin("other_abi")), HasSubstr("made for abi 2"));
}

TEST_F(FeatureLibraryTest, AFileThatIsNotThereIsLookedForByName) {
  const fs::path a = folder_ / "a", b = folder_ / "b";
  fs::create_directories(a);
  fs::create_directories(b);
  ::setenv("FOXHUNT_PLUGINS", (a.string() + "::" + b.string()).c_str(), 1);
  EXPECT_THAT(refusal("gone/mine.so"), AllOf(HasSubstr("nor '" + (a / "mine.so").string()),
                                             HasSubstr("nor '" + (b / "mine.so").string()),
                                             testing::Not(HasSubstr("nor 'mine.so'"))));
  EXPECT_THAT(refusal("gone/"), HasSubstr("there is no file"));
  fs::copy_file(plugin("random"), b / "mine.so");
  EXPECT_EQ(find_feature_library("gone/mine.so"), b / "mine.so");
  EXPECT_EQ(FeatureLibrary::open("gone/mine.so")->id().name, "random");
  fs::copy_file(plugin("peeks"), a / "mine.so");
  EXPECT_EQ(find_feature_library("gone/mine.so"), a / "mine.so");
  EXPECT_EQ(find_feature_library((b / "mine.so").string()), b / "mine.so");
}

TEST_F(FeatureLibraryTest, OtherBytesThanThoseTrainedWithAreRefusedWithBothHashes) {
  const auto example = FeatureLibrary::open(kExample);
  Schema schema{.columns = {{"ret_1", "", 1, ""}}};
  EXPECT_NO_THROW(require_libraries({}, schema));
  EXPECT_THROW(require_libraries({kExample}, schema), DataError);
  for (const Column& column : example->columns()) schema.columns.push_back(column);
  EXPECT_NO_THROW(require_libraries({kExample}, schema));
  EXPECT_THROW(require_libraries({}, schema), DataError);
  EXPECT_THROW(require_libraries({"no/such.so"}, schema), ConfigError);
  try {
    require_libraries({plugin("random")}, schema);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(
        error.what(),
        AllOf(HasSubstr(plugin("random") + ": is not the library"), HasSubstr("'user_features'"),
              HasSubstr(sha256_of_file(kExample)), HasSubstr(sha256_of_file(plugin("random")))));
  }
}

}  // namespace
}  // namespace foxhunt::features
