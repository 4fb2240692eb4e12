#include "foxhunt/bundle/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <filesystem>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/bundle/test_bundle.h"
#include "foxhunt/model/safetensors.h"

namespace foxhunt::bundle {
namespace {

using test::small_bundle;

std::span<const std::byte> span_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}
Bundle parsed(const std::string& bytes) { return parse_bundle(span_of(bytes), "es.fox"); }

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float v : values) bits.push_back(std::bit_cast<std::uint32_t>(v));
  return bits;
}

class BundleFileTest : public testing::Test {
 protected:
  BundleFileTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("foxhunt_bundle_" + std::to_string(::getpid()) + "_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~BundleFileTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path path() const { return folder_ / "es.fox"; }

  std::filesystem::path folder_;
};

TEST(Bundle, ReadsBackEveryValueBitForBit) {
  Bundle bundle = small_bundle();
  std::vector<float>& some = bundle.weights.begin()->second;
  some[0] = -0.0F;
  some[1] = 1e-42F;  // subnormal
  bundle.latency_json = R"({"p50_us": 2.5})";
  bundle.config.dt_limit_min = 0.1 + 0.2;
  bundle.context.label.horizon = 7;
  const Bundle back = parsed(bundle_bytes(bundle, "es.fox"));
  EXPECT_EQ(back.config, bundle.config);
  EXPECT_EQ(back.head, bundle.head);
  ASSERT_EQ(back.weights.size(), bundle.weights.size());
  for (const auto& [name, values] : bundle.weights)
    EXPECT_EQ(bits_of(back.weights.at(name)), bits_of(values)) << name;
  EXPECT_EQ(back.context.to_metadata(), bundle.context.to_metadata());
  EXPECT_EQ(back.context.label.horizon, 7);
  EXPECT_EQ(back.form, bundle.form);
  EXPECT_EQ(back.training_json, bundle.training_json);
  EXPECT_EQ(back.latency_json, bundle.latency_json);
  EXPECT_EQ(back.certificate.to_json(), bundle.certificate.to_json());
  EXPECT_EQ(back.golden.ready, bundle.golden.ready);
  EXPECT_EQ(bits_of(back.golden.outputs), bits_of(bundle.golden.outputs));
  ASSERT_EQ(back.golden.bars.size(), bundle.golden.bars.size());
  for (std::size_t i = 0; i < back.golden.bars.size(); ++i) {
    const market::Bar& a = back.golden.bars[i];
    const market::Bar& b = bundle.golden.bars[i];
    EXPECT_EQ(a.instrument, b.instrument);
    EXPECT_EQ(a.start, b.start);
    EXPECT_EQ(a.span, b.span);
    EXPECT_EQ(a.open, b.open);
    EXPECT_EQ(a.high, b.high);
    EXPECT_EQ(a.low, b.low);
    EXPECT_EQ(a.close, b.close);
    EXPECT_EQ(a.volume, b.volume);
  }
}

TEST(Bundle, GivesTheSameBytesForTheSameContent) {
  const std::string bytes = bundle_bytes(small_bundle(), "a");
  EXPECT_EQ(bundle_bytes(small_bundle(), "b"), bytes) << "a name is no content";
  EXPECT_NE(bundle_bytes(small_bundle(2), "a"), bytes);
  EXPECT_EQ(bundle_bytes(parsed(bytes), "c"), bytes) << "read and written again";
}

TEST(Bundle, KeepsTheRevisionThatItWasExportedWith) {
  Bundle bundle = small_bundle();
  bundle.git_revision = "0123abc";
  const Bundle back = parsed(bundle_bytes(bundle, "a"));
  EXPECT_EQ(back.git_revision, "0123abc");
  EXPECT_FALSE(parsed(bundle_bytes(small_bundle(), "a")).git_revision.empty());
}

TEST(Bundle, IsASafetensorsFileWithAlignedTensors) {
  const std::string bytes = bundle_bytes(small_bundle(), "a");
  const auto file = model::SafetensorsFile::from_bytes(span_of(bytes), "a");
  EXPECT_EQ(file.metadata().at("format"), "pt") << "Python's loader for LibTorch looks for it";
  for (const model::TensorView& view : file.tensors()) {
    const auto place = static_cast<std::size_t>(view.bytes.data() - span_of(bytes).data());
    EXPECT_EQ(place % model::size_of(view.dtype), 0U) << view.name;
  }
}

TEST_F(BundleFileTest, WritesWhatItReadsAndAnswersItsId) {
  const std::string id = write_bundle(path(), small_bundle());
  EXPECT_EQ(id.size(), 64U);
  const Bundle back = read_bundle(path());
  EXPECT_EQ(back.id, id);
  EXPECT_EQ(read_file(path()), bundle_bytes(small_bundle(), "a"));
  EXPECT_EQ(write_bundle(path(), back), id);
  EXPECT_NE(write_bundle(path(), small_bundle(2)), id);
}

TEST_F(BundleFileTest, LeavesTheOldFileWhereTheNewOneIsRefused) {
  write_bundle(path(), small_bundle());
  const std::string before = read_file(path());
  Bundle bad = small_bundle(2);
  bad.golden.ready[0] = 2;
  EXPECT_THROW(write_bundle(path(), bad), FormatError);
  EXPECT_EQ(read_file(path()), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1)
      << "no temporary file stays behind";
}

TEST_F(BundleFileTest, NamesTheFileThatIsNotThere) {
  EXPECT_THROW(read_bundle(folder_ / "absent.fox"), IoError);
  EXPECT_THROW(read_bundle(folder_), IoError);
  EXPECT_THROW(write_bundle(folder_ / "absent" / "es.fox", small_bundle()), IoError);
}

TEST_F(BundleFileTest, ReadsTheGoldenFileOfVersionOne) {
  const Bundle bundle = read_bundle("tests/data/bundle/tiny.fox");
  EXPECT_EQ(bundle.id, "0e998aaa096e6db84ec174fdc203eb5bd439dc24669d0769805fe6111261eae9");
  // The same numbers are in tests/bundle/model_file_test.py.
  EXPECT_EQ(bundle.weights.at("head.bias"),
            (std::vector<float>{0.6531186103820801F, -0.6455702185630798F, 0.13737602531909943F}));
  const market::Bar& bar = bundle.golden.bars.at(3);
  EXPECT_EQ(bar.instrument, (market::InstrumentKey{.publisher_id = 1, .instrument_id = 7}));
  EXPECT_EQ(foxhunt::to_string(bar.start), "2013-10-07T14:03:00Z");
  EXPECT_EQ(bar.span, std::chrono::minutes{1});
  EXPECT_EQ(bar.open.nano, 1'700'750'000'000);
  EXPECT_EQ(bar.high.nano, 1'701'000'000'000);
  EXPECT_EQ(bar.low.nano, 1'700'000'000'000);
  EXPECT_EQ(bar.close.nano, 1'700'000'000'000);
  EXPECT_EQ(bar.volume, ~std::uint64_t{0});
  EXPECT_EQ(bundle.golden.ready, (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1}));
  EXPECT_EQ(bundle.golden.outputs.front(), 1.9651590585708618F);
  EXPECT_EQ(bundle_bytes(bundle, "again"), read_file("tests/data/bundle/tiny.fox"));
}

TEST_F(BundleFileTest, SaysThatACheckpointIsNoBundle) {
  try {
    read_bundle("tests/golden/mamba2/hf_tiny_lm/model.safetensors");
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("model.safetensors: is no bundle"));
  }
}

}  // namespace
}  // namespace foxhunt::bundle
