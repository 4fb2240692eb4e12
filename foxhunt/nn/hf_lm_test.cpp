// A checkpoint saved by transformers: loads under its own names and answers with its own numbers.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>

#include <cstring>

#include "foxhunt/model/hf_config.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/nn/tensor_io.h"

#include "tests/golden/golden_case.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;

std::vector<double> values_of(const Tensor& t) {
  const Tensor flat = t.detach().to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

class HfLmGoldenTest : public testing::TestWithParam<at::ScalarType> {
 protected:
  HfLmGoldenTest()
      : expect_(golden::folder() / "hf_tiny_lm" / "expect.safetensors"),
        imported_(model::read_hf_config(golden::folder() / "hf_tiny_lm" / "config.json")),
        model_(imported_.config, imported_.head, at::kCPU, GetParam()) {
    load_weights(model_, model::SafetensorsFile::open(golden::folder() / "hf_tiny_lm" /
                                                      "model.safetensors"));
    ids_ = tensor_of(expect_.file.at("input_ids"), at::kCPU);
  }
  /// As for one layer (golden_test.cpp); three of them and a norm behind them stay within the same
  /// limits.
  double value_limit() const { return GetParam() == at::kDouble ? 1e-12 : 2e-6; }
  double gradient_limit() const { return GetParam() == at::kDouble ? 1e-10 : 1e-5; }
  void expect_meets(const char* name, const Tensor& t) const {
    EXPECT_LT(golden::error(values_of(t), expect_.reals(name)), value_limit()) << name;
  }

  golden::GoldenCase expect_;
  model::ImportedConfig imported_;
  Mamba2SSM model_;
  Tensor ids_;
};

TEST_P(HfLmGoldenTest, ReproducesLogitsStatesLossAndGradients) {
  Mamba2State state = model_.zero_state(2);
  ModelTrace trace;
  const Tensor logits = model_.forward(ids_, state, {}, &trace);
  expect_meets("expect.logits", logits);
  expect_meets("expect.last_hidden", trace.last_hidden);
  std::vector<Tensor> hidden, conv, ssm;
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    hidden.push_back(trace.layers[i].residual);
    conv.push_back(state.layers[i].conv);
    ssm.push_back(state.layers[i].ssm);
  }
  expect_meets("expect.hidden", at::stack(hidden));
  expect_meets("expect.conv_state", at::stack(conv));
  expect_meets("expect.ssm_state", at::stack(ssm));

  const std::int64_t next = ids_.size(1) - 1;
  const Tensor loss = at::cross_entropy_loss(logits.narrow(1, 0, next).flatten(0, 1),
                                             ids_.narrow(1, 1, next).flatten());
  expect_meets("expect.loss", loss.view({1}));
  loss.backward();
  for (const auto& item : model_.named_parameters()) {
    EXPECT_LT(golden::error(values_of(item.value().grad()), expect_.reals("grad." + item.key())),
              gradient_limit())
        << item.key();
  }
}

TEST_P(HfLmGoldenTest, ContinuesWithTheSameTokens) {
  Mamba2State state = model_.zero_state(1);
  Tensor logits = model_.forward(ids_.narrow(0, 0, 1), state).select(1, ids_.size(1) - 1);
  std::vector<std::int64_t> tokens;
  for (const std::int64_t expected : expect_.integers("expect.greedy")) {
    const Tensor best = logits.argmax(-1);
    tokens.push_back(best.item<std::int64_t>());
    EXPECT_EQ(tokens.back(), expected) << "token " << tokens.size();
    logits = model_.step(best, state);
  }
  EXPECT_EQ(tokens.size(), 16U);
}

INSTANTIATE_TEST_SUITE_P(golden, HfLmGoldenTest, testing::Values(at::kDouble, at::kFloat),
                         [](const auto& one) { return one.param == at::kDouble ? "f64" : "f32"; });

}  // namespace
}  // namespace foxhunt::nn
