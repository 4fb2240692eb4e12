// Weights through files: bit for bit, strictly by name, and under the names of other systems.
#include "foxhunt/nn/tensor_io.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "foxhunt/nn/test_tools.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using model::GateNorm;
using model::HeadConfig;
using model::HeadKind;
using model::Mamba2Config;
using testing::HasSubstr;

class WeightsFileTest : public testing::Test {
 protected:
  ~WeightsFileTest() override { std::filesystem::remove(path_); }
  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("foxhunt_weights_" + std::to_string(::getpid()) + "_" +
                                 testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(WeightsFileTest, RebuildTheModelBitForBit) {
  for (const HeadKind kind : {HeadKind::kQuantiles, HeadKind::kTokens}) {
    Mamba2Config config = small_model();
    config.dt_limit_min = 1e-6;
    config.gate_norm = GateNorm::kNormFirst;
    Mamba2SSM model(config, head_of(kind), at::kCPU);
    model.initialise(3);
    save_weights(model, path_, {{"git", "abc"}});
    const auto loaded = load_model(path_, at::kCPU);
    EXPECT_EQ(loaded->config(), config);
    EXPECT_EQ(loaded->head_config(), model.head_config());
    EXPECT_EQ(weights_hash(*loaded), weights_hash(model));
    EXPECT_EQ(model::SafetensorsFile::open(path_).metadata().at("git"), "abc");
    const auto wide_model = load_model(path_, at::kCPU, at::kDouble);
    EXPECT_EQ(wide_model->dtype(), at::kDouble);
  }
}

TEST_F(WeightsFileTest, NamesWhatIsMissingExtraMisshapenOrTooWide) {
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  NamedTensors tensors;
  for (const auto& item : model.named_parameters()) {
    if (item.key() == "head.bias") continue;
    Tensor t = item.value();
    if (item.key() == "backbone.norm_f.weight") t = t.narrow(0, 0, 3);
    if (item.key() == "head.weight") t = t.to(at::kDouble);
    tensors.emplace_back(item.key(), t);
  }
  tensors.emplace_back("backbone.layers.7.norm.weight", at::ones({16}));
  save_tensors(path_, tensors, {});
  const std::string before = weights_hash(model);
  const std::string text =
      message_of([&] { load_weights(model, model::SafetensorsFile::open(path_)); });
  EXPECT_THAT(text, HasSubstr("'head.bias' is missing"));
  EXPECT_THAT(text, HasSubstr("'backbone.layers.7.norm.weight' is extra"));
  EXPECT_THAT(text, HasSubstr("'backbone.norm_f.weight' is [3], but the model says [16]"));
  EXPECT_THAT(text, HasSubstr("'head.weight' is F64, which does not fit into Float"));
  EXPECT_EQ(weights_hash(model), before) << "a refused file changes nothing";
}

TEST_F(WeightsFileTest, UnderstandMambaSsmsNamesAndItsTiedHead) {
  Mamba2SSM model(small_model(), head_of(HeadKind::kTokens), at::kCPU);
  model.initialise(8);
  NamedTensors tensors;
  for (const auto& item : model.named_parameters()) {
    const bool embedding = item.key() == "backbone.embeddings.weight";
    tensors.emplace_back(embedding ? "backbone.embedding.weight" : item.key(), item.value());
    if (embedding) tensors.emplace_back("lm_head.weight", item.value());
  }
  save_tensors(path_, tensors, {});
  Mamba2SSM other(small_model(), head_of(HeadKind::kTokens), at::kCPU);
  load_weights(other, model::SafetensorsFile::open(path_));
  EXPECT_EQ(weights_hash(other), weights_hash(model));
  tensors[1].second = tensors[1].second + 1;
  save_tensors(path_, tensors, {});
  EXPECT_THAT(message_of([&] { load_weights(other, model::SafetensorsFile::open(path_)); }),
              HasSubstr("'lm_head.weight' differs from the embedding"));
}

TEST_F(WeightsFileTest, WidenHalfPrecisionExactly) {
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  NamedTensors tensors;
  for (const auto& item : model.named_parameters())
    tensors.emplace_back(item.key(), item.value().to(at::kBFloat16));
  save_tensors(path_, tensors, {});
  load_weights(model, model::SafetensorsFile::open(path_));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE(at::equal(model.parameters()[i], tensors[i].second.to(at::kFloat)))
        << tensors[i].first;
  }
}

TEST_F(WeightsFileTest, RefuseTensorsWithoutValues) {
  EXPECT_THAT(
      message_of([&] { save_weights(Mamba2SSM(small_model(), HeadConfig{}, at::kMeta), path_); }),
      HasSubstr("'backbone.in_proj.weight' lies on meta"));
}

}  // namespace
}  // namespace foxhunt::nn
