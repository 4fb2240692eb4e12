// A bundle whose rows hold a user's columns: it names the library and refuses every other one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/bundle/test_bundle.h"
#include "foxhunt/features/test_plugins.h"

namespace foxhunt::bundle {
namespace {

namespace fs = std::filesystem;
using features::test::kExample;
using features::test::plugin;
using testing::AllOf;
using testing::HasSubstr;

class UserLibraryTest : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("FOXHUNT_PLUGINS");
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "elsewhere");
    fs::copy_file(kExample, library_);
  }
  void TearDown() override {
    ::unsetenv("FOXHUNT_PLUGINS");
    fs::remove_all(folder_);
  }

  /// As read from a file of a model that was trained with the library.
  ModelContext context() const {
    const features::FeatureConfig config = features::test::with_plugins({library_.string()});
    const features::FeaturePipeline pipeline = features::test::make_pipeline(config);
    const UnixNanos start = parse_time("2013-10-07T14:00");
    features::NormalizerFit fit(pipeline.schema(), {start, start + std::chrono::hours{1}});
    Rng rng(1);
    std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
    for (int i = 0; i < 10; ++i) {
      for (float& v : row) v = static_cast<float>(rng.uniform());
      fit.add(start, row);
    }
    const ModelContext made{.product = "ES",
                            .features = config,
                            .schema = pipeline.schema(),
                            .normalizer = fit.finish(5),
                            .label = {},
                            .config_sha256 = std::string(64, 'c')};
    return ModelContext::from_metadata(made.to_metadata(), "es.fox");
  }
  static std::string refusal(const ModelContext& context) {
    try {
      context.pipeline();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "bundle_user_library";
  const fs::path library_ = folder_ / "mine.so";
};

TEST_F(UserLibraryTest, ModelNamesItByPathAndHash) {
  const ModelContext read = context();
  EXPECT_EQ(read.features.plugins, std::vector<std::string>{library_.string()});
  EXPECT_THAT(read.schema.libraries(), testing::ElementsAre(features::Library{
                                           "user_features", "1.0", sha256_of_file(kExample)}));
  EXPECT_EQ(read.pipeline().schema().hash(), read.schema.hash());
  EXPECT_NE(rows_hash(read.features, {}), rows_hash(features::test::small_config(), {}));
}

TEST_F(UserLibraryTest, OtherBytesAreRefusedWithBothHashes) {
  const ModelContext read = context();
  std::string bytes = read_file(library_);
  const std::size_t version = bytes.find("1.0");  // the same code, another version
  ASSERT_NE(version, std::string::npos);
  bytes[version] = '2';
  write_file_atomic(library_, bytes);
  EXPECT_THAT(refusal(read), AllOf(HasSubstr("mine.so: is not the library"),
                                   HasSubstr(sha256_of_file(kExample) + " then"),
                                   HasSubstr(sha256_of(bytes) + " here")));
  write_file_atomic(library_, "no library");
  EXPECT_THAT(refusal(read), HasSubstr("is not the library")) << "nothing was loaded to say so";
}

TEST_F(UserLibraryTest, IsLookedForByNameWhereItHasMoved) {
  const ModelContext read = context();
  fs::rename(library_, folder_ / "elsewhere" / "mine.so");
  EXPECT_THAT(refusal(read), HasSubstr("there is no file '" + library_.string()));
  ::setenv("FOXHUNT_PLUGINS", (folder_ / "elsewhere").c_str(), 1);
  EXPECT_EQ(refusal(read), "");
  fs::copy_file(plugin("random"), folder_ / "elsewhere" / "mine.so",
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(refusal(read), HasSubstr("is not the library"));
}

}  // namespace
}  // namespace foxhunt::bundle
