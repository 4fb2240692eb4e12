#include "foxhunt/model/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "foxhunt/base/error.h"
#include "foxhunt/model/hf_config.h"
#include "foxhunt/model/tensor_list.h"

namespace foxhunt::model {
namespace {

using testing::HasSubstr;

std::vector<float> narrow_values(DType dtype, const std::vector<std::uint16_t>& bits) {
  return floats_of(
      {"x", dtype, {static_cast<std::int64_t>(bits.size())}, std::as_bytes(std::span(bits))});
}

std::vector<std::uint16_t> every_pattern() {
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  return bits;
}

/// Sign, exponent and fraction as IEEE 754 defines them, in double.
double value_of(std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits >> 15 == 0 ? 1 : -1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  const double significand =
      std::ldexp(fraction, -fraction_bits) + (exponent == 0 ? 0 : 1);  // 0: subnormal
  return sign * std::ldexp(significand, std::max(exponent, 1) - bias);
}

void expect_every_pattern(DType dtype, int exponent_bits, int fraction_bits) {
  const std::vector<std::uint16_t> bits = every_pattern();
  const std::vector<float> got = narrow_values(dtype, bits);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const double expected = value_of(bits[i], exponent_bits, fraction_bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got[i])) << i;
    } else {
      ASSERT_EQ(got[i], expected) << i;
      ASSERT_EQ(std::signbit(got[i]), std::signbit(expected)) << i;
    }
  }
}

TEST(FloatsOf, WidensEveryHalfExactly) { expect_every_pattern(DType::kF16, 5, 10); }
TEST(FloatsOf, WidensEveryBfloatExactly) { expect_every_pattern(DType::kBF16, 8, 7); }

TEST(FloatsOf, ReadsFloatsThatAreNotAligned) {
  const float value = -1.25e-20F;
  std::array<std::byte, 5> bytes{};
  std::memcpy(bytes.data() + 1, &value, 4);
  EXPECT_EQ(floats_of({"x", DType::kF32, {1}, std::span(bytes).subspan(1)}),
            std::vector<float>{value});
  std::memcpy(bytes.data() + 1, "\x00\x3C\x00\xC0", 4);
  EXPECT_EQ(floats_of({"x", DType::kF16, {2}, std::span(bytes).subspan(1)}),
            (std::vector<float>{1, -2}));
}

TEST(FloatsOf, RefusesWhatWouldBeRounded) {
  const std::vector<double> wide{0.1};
  try {
    floats_of({"layer.D", DType::kF64, {1}, std::as_bytes(std::span(wide))});
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'layer.D' is F64"));
  }
}

/// The tiny language model that transformers saved, as tensors that a test can change.
class ImportTest : public testing::Test {
 protected:
  static constexpr const char* kFolder = "tests/golden/mamba2/hf_tiny_lm";
  ImportTest()
      : imported_(read_hf_config(std::string(kFolder) + "/config.json")),
        original_(SafetensorsFile::open(std::string(kFolder) + "/model.safetensors")),
        tensors_(original_.tensors()) {}

  TensorView& tensor(const std::string& name) {
    return *std::find_if(tensors_.begin(), tensors_.end(),
                         [&](const TensorView& view) { return view.name == name; });
  }
  std::map<std::string, std::vector<float>> read() {
    bytes_ = safetensors_bytes(tensors_, {}, "changed");
    return read_weights(SafetensorsFile::from_bytes(std::as_bytes(std::span(bytes_)), "changed"),
                        imported_.config, imported_.head);
  }
  std::string message() {
    try {
      read();
    } catch (const FormatError& error) {
      return error.what();
    }
    return "no error";
  }

  ImportedConfig imported_;
  SafetensorsFile original_;
  std::vector<TensorView> tensors_;
  std::string bytes_;
};

TEST_F(ImportTest, TakesTheNamesOfTransformersAndOfMambaSsmAlike) {
  const auto weights = read();
  EXPECT_EQ(weights.size(), tensor_list(imported_.config, imported_.head).size());
  const auto conv = weights.at("backbone.layers.1.mixer.conv1d.weight");
  EXPECT_EQ(conv, floats_of(original_.at("backbone.layers.1.mixer.conv1d.weight")));
  tensor("backbone.embeddings.weight").name = "backbone.embedding.weight";
  EXPECT_EQ(read(), weights) << "mamba_ssm";
  for (TensorView& view : tensors_) view.name = "model." + view.name;
  EXPECT_EQ(read(), weights) << "a module around the model";
}

TEST_F(ImportTest, TakesATiedHeadWithAndWithoutItsCopyOfTheEmbedding) {
  imported_.head.tied = true;
  tensor("lm_head.weight").bytes = tensor("backbone.embeddings.weight").bytes;
  const auto weights = read();
  EXPECT_FALSE(weights.contains("lm_head.weight"));
  std::erase_if(tensors_, [](const TensorView& view) { return view.name == "lm_head.weight"; });
  EXPECT_EQ(read(), weights);
  for (TensorView& view : tensors_) view.name = view.name.substr(std::strlen("backbone."));
  EXPECT_EQ(read(), weights) << "the backbone saved by itself";
}

TEST_F(ImportTest, RefusesATiedHeadThatIsNotTheEmbedding) {
  imported_.head.tied = true;
  EXPECT_THAT(message(), HasSubstr("differs from the embedding"));
}

TEST_F(ImportTest, WidensNarrowCheckpoints) {
  std::vector<std::vector<std::uint16_t>> kept(tensors_.size());
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    for (const float v : floats_of(tensors_[i])) {
      kept[i].push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(v) >> 16U));
    }
    tensors_[i].dtype = DType::kBF16;
    tensors_[i].bytes = std::as_bytes(std::span(kept[i]));
  }
  for (const auto& [name, values] : read()) {
    const std::vector<float> exact = floats_of(original_.at(name));
    for (std::size_t i = 0; i < exact.size(); ++i) {
      // Cut off after 8 significant bits: below the value by less than 2^-7 of it.
      ASSERT_NEAR(values[i], exact[i], std::abs(exact[i]) * 0x1p-7) << name;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]) & 0xFFFFU, 0U) << name;
    }
  }
}

TEST_F(ImportTest, ListsEverythingThatDoesNotFit) {
  const std::vector<float> nan(tensor("backbone.norm_f.weight").bytes.size() / 4, std::nanf(""));
  tensor("backbone.norm_f.weight").bytes = std::as_bytes(std::span(nan));
  tensor("backbone.layers.0.mixer.A_log").dtype = DType::kI32;
  std::swap(tensor("backbone.layers.0.mixer.conv1d.weight").shape[0],
            tensor("backbone.layers.0.mixer.conv1d.weight").shape[1]);
  tensor("backbone.layers.0.mixer.D").name = "backbone.layers.0.mixer.E";
  tensors_.push_back(tensor("backbone.embeddings.weight"));
  tensors_.back().name = "backbone.embedding.weight";
  const std::string text = message();
  EXPECT_THAT(text, HasSubstr("changed: does not hold"));
  EXPECT_THAT(text, HasSubstr("'backbone.norm_f.weight' has a value that is not finite"));
  EXPECT_THAT(text, HasSubstr("'backbone.layers.0.mixer.A_log' is I32"));
  EXPECT_THAT(text, HasSubstr("'backbone.layers.0.mixer.conv1d.weight' is [1, "));
  EXPECT_THAT(text, HasSubstr("'backbone.layers.0.mixer.D' is missing"));
  EXPECT_THAT(text, HasSubstr("'backbone.layers.0.mixer.E' is extra"));
  EXPECT_THAT(text, HasSubstr("'backbone.embeddings.weight' is there twice"));
}

}  // namespace
}  // namespace foxhunt::model
