#include "foxhunt/model/tensor_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"

namespace foxhunt::model {
namespace {

std::vector<std::string> names_of(const std::vector<TensorInfo>& list) {
  std::vector<std::string> names;
  names.reserve(list.size());
  for (const TensorInfo& tensor : list) names.push_back(tensor.name);
  return names;
}

TEST(TensorList, NamesAOneLayerModelInOrder) {
  Mamba2Config config;
  config.n_layer = 1;
  const auto list = tensor_list(config, HeadConfig{});
  EXPECT_THAT(
      names_of(list),
      testing::ElementsAre(
          "backbone.in_proj.weight", "backbone.in_proj.bias", "backbone.layers.0.norm.weight",
          "backbone.layers.0.mixer.dt_bias", "backbone.layers.0.mixer.A_log",
          "backbone.layers.0.mixer.D", "backbone.layers.0.mixer.in_proj.weight",
          "backbone.layers.0.mixer.conv1d.weight", "backbone.layers.0.mixer.conv1d.bias",
          "backbone.layers.0.mixer.norm.weight", "backbone.layers.0.mixer.out_proj.weight",
          "backbone.norm_f.weight", "head.weight", "head.bias"));
  EXPECT_EQ(list[6].shape, (std::vector<std::int64_t>{292, 64}));
  EXPECT_EQ(list[7].shape, (std::vector<std::int64_t>{160, 1, 4}));
}

TEST(TensorList, DecaysProjectionsConvolutionsAndHeadsOnly) {
  for (const TensorInfo& tensor : tensor_list(Mamba2Config{}, HeadConfig{})) {
    const bool matrix =
        tensor.shape.size() >= 2;  // biases, norms, A_log, dt_bias and D have one axis
    EXPECT_EQ(tensor.decays, matrix) << tensor.name;
  }
}

TEST(TensorList, FollowsTheOptions) {
  Mamba2Config config;
  config.n_layer = 1;
  config.has_d = false;
  config.conv_bias = false;
  config.proj_bias = true;
  config.gate_norm = GateNorm::kNone;
  const auto names = names_of(tensor_list(config, HeadConfig{}));
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  EXPECT_FALSE(has("backbone.layers.0.mixer.D"));
  EXPECT_FALSE(has("backbone.layers.0.mixer.conv1d.bias"));
  EXPECT_FALSE(has("backbone.layers.0.mixer.norm.weight"));
  EXPECT_TRUE(has("backbone.layers.0.mixer.in_proj.bias"));
  EXPECT_TRUE(has("backbone.layers.0.mixer.out_proj.bias"));
}

TEST(TensorList, TokenModelsHaveAnEmbeddingAndTieTheirHead) {
  HeadConfig head;
  head.kind = HeadKind::kTokens;
  head.n_features = 48;
  const auto tied = names_of(tensor_list(Mamba2Config{}, head));
  EXPECT_EQ(tied.front(), "backbone.embeddings.weight");
  EXPECT_EQ(tied.back(), "backbone.norm_f.weight");
  head.tied = false;
  EXPECT_EQ(names_of(tensor_list(Mamba2Config{}, head)).back(), "lm_head.weight");
}

TEST(TensorList, CountsTheParametersOfTheHftPreset) {
  // By hand: a layer has 292*64 + 64*128 + 160*4 + 160 + 3*4 + 128 + 64 = 27884; four of them,
  // 16*64 + 64 in front, 64 for the last norm, 3*64 + 3 in the head.
  EXPECT_EQ(parameter_count(Mamba2Config::default_hft(), HeadConfig{}),
            4 * 27884 + 16 * 64 + 64 + 64 + 3 * 64 + 3);
}

TEST(TensorList, RefusesAnInvalidModel) {
  Mamba2Config config;
  config.headdim = 48;
  EXPECT_THROW(tensor_list(config, HeadConfig{}), ConfigError);
}

TEST(CanonicalTensorName, KnowsMambaSsmsEmbedding) {
  EXPECT_EQ(canonical_tensor_name("backbone.embedding.weight"), "backbone.embeddings.weight");
  EXPECT_EQ(canonical_tensor_name("backbone.norm_f.weight"), "backbone.norm_f.weight");
}

TEST(CanonicalTensorName, KnowsAModelInsideAModuleAndABackboneByItself) {
  EXPECT_EQ(canonical_tensor_name("model.backbone.embedding.weight"), "backbone.embeddings.weight");
  EXPECT_EQ(canonical_tensor_name("model.lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(canonical_tensor_name("embeddings.weight"), "backbone.embeddings.weight");
  EXPECT_EQ(canonical_tensor_name("layers.3.mixer.D"), "backbone.layers.3.mixer.D");
  EXPECT_EQ(canonical_tensor_name("norm_f.weight"), "backbone.norm_f.weight");
}

TEST(CanonicalTensorName, LeavesTheNamesOfTheListAlone) {
  HeadConfig tokens;
  tokens.kind = HeadKind::kTokens;
  tokens.tied = false;
  for (const HeadConfig& head : {HeadConfig{}, tokens}) {
    for (const TensorInfo& info : tensor_list(Mamba2Config{}, head))
      EXPECT_EQ(canonical_tensor_name(info.name), info.name);
  }
}

}  // namespace
}  // namespace foxhunt::model
