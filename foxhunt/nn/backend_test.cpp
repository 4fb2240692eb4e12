// The project's kernels and LibTorch's operations compute one function: outputs, states and every
// gradient, in float64 to rounding and in float32 within stated bounds.
#include "foxhunt/nn/backend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foxhunt/nn/mamba2.h"
#include "foxhunt/nn/test_tools.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using model::GateNorm;
using model::HeadConfig;
using model::HeadKind;
using model::Mamba2Config;

struct Marks {
  std::string name;
  WindowMarks marks;
};

/// Plain, padded, packed, and both, for 3 rows of 21 tokens.
std::vector<Marks> all_marks() {
  const Tensor lengths = ints({21, 8, 0});
  Tensor packed = at::zeros({3, 21}, at::kLong);
  packed.slice(1, 9, 21).fill_(4);
  packed.slice(1, 20, 21).fill_(5);
  packed.select(0, 1).slice(0, 3, 21).fill_(7);
  return {{"plain", {}},
          {"padded", {Tensor(), lengths}},
          {"packed", {packed, Tensor()}},
          {"packed and padded", {packed, lengths}}};
}

/// Everything a model gives for one batch: outputs, states behind it, gradients of both and of the
/// states in front.
std::vector<std::pair<std::string, Tensor>> everything(Mamba2SSM& model, const Tensor& x,
                                                       const Mamba2State& from,
                                                       const WindowMarks& marks) {
  Mamba2State state = from.clone();
  std::vector<Tensor> leaves;
  for (LayerState& layer : state.layers) {
    for (Tensor* tensor : {&layer.conv, &layer.ssm}) {
      *tensor = tensor->detach().clone().requires_grad_();
      leaves.push_back(*tensor);
    }
  }
  Tensor input = x.detach().clone().requires_grad_();
  model.zero_grad();
  const Tensor out = model.forward(input, state, marks);
  // Weights that differ place by place, so that no gradient cancels.
  const auto weigh = [](const Tensor& t) {
    return (t * at::arange(t.numel(), t.options()).mul(0.37).sin().view(t.sizes())).sum();
  };
  Tensor loss = weigh(out);
  std::vector<std::pair<std::string, Tensor>> all{{"out", out.detach()}};
  for (std::size_t i = 0; i < state.layers.size(); ++i) {
    loss = loss + weigh(state.layers[i].conv) + weigh(state.layers[i].ssm);
    all.emplace_back("conv_next", state.layers[i].conv.detach());
    all.emplace_back("ssm_next", state.layers[i].ssm.detach());
  }
  loss.backward();
  all.emplace_back("dx", input.grad());
  for (const Tensor& leaf : leaves) all.emplace_back("dstate", leaf.grad());
  for (const auto& item : model.named_parameters()) {
    all.emplace_back("d " + item.key(), item.value().grad().clone());
  }
  return all;
}

void expect_one_function(const Mamba2Config& config, const HeadConfig& head, at::ScalarType dtype,
                         double tolerance) {
  Rng rng(21);
  Mamba2SSM model(config, head, at::kCPU, dtype);
  {
    const at::NoGradGuard no_grad;
    for (auto& item : model.named_parameters()) {
      item.value().add_(random_tensor(rng, item.value().sizes(), dtype) * 0.1);
    }
  }
  const Tensor x = random_tensor(rng, {3, 21, head.n_features}, dtype);
  Mamba2State from = model.zero_state(3);
  for (LayerState& layer : from.layers) layer = random_layer_state(config, 3, rng, dtype);
  for (const auto& [name, marks] : all_marks()) {
    SCOPED_TRACE(name);
    model.use_kernels(Kernels::kNative);
    const auto native = everything(model, x, from, marks);
    model.use_kernels(Kernels::kAten);
    const auto aten = everything(model, x, from, marks);
    ASSERT_EQ(native.size(), aten.size());
    for (std::size_t i = 0; i < native.size(); ++i) {
      EXPECT_LE(distance(native[i].second, aten[i].second), tolerance) << native[i].first;
    }
  }
}

std::vector<Mamba2Config> configs() {
  std::vector<Mamba2Config> all;
  Mamba2Config c = small_model();
  all.push_back(c);
  c.dt_limit_min = 0.02;  // limits that bind
  c.dt_limit_max = 0.05;
  all.push_back(c);
  c = small_model();
  c.gate_norm = GateNorm::kNormFirst;
  c.proj_bias = true;
  all.push_back(c);
  c.gate_norm = GateNorm::kNone;
  c.has_d = c.conv_bias = false;
  all.push_back(c);
  c = small_model();
  c.ngroups = 1;
  c.d_state = 19;
  c.headdim = 2;
  c.d_conv = 3;
  all.push_back(c);
  return all;
}

// 1e-10: what float64 leaves after two layers and their gradients, two digits to spare.
TEST(Backends, AgreeInFloat64ToRounding) {
  for (const Mamba2Config& config : configs()) {
    expect_one_function(config, head_of(HeadKind::kRegression), at::kDouble, 1e-10);
  }
}

// 2e-5: the bound of the layers' own tests in float32, over two layers.
TEST(Backends, AgreeInFloat32WithinABound) {
  for (const Mamba2Config& config : configs()) {
    expect_one_function(config, head_of(HeadKind::kClassification), at::kFloat, 2e-5);
  }
}

TEST(Backends, StepsAgreeWithEachOtherAndWithTheWindow) {
  const at::NoGradGuard no_grad;
  Rng rng(5);
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  model.initialise(4);
  const Tensor x = random_tensor(rng, {2, 30, 5}, at::kFloat);
  const Tensor window = model.forward(x);
  for (const Kernels kernels : {Kernels::kNative, Kernels::kAten}) {
    model.use_kernels(kernels);
    Mamba2State state = model.zero_state(2);
    for (std::int64_t t = 0; t < 30; ++t) {
      // 2e-6: the same sums in another order in float32.
      EXPECT_LE(distance(model.step(x.select(1, t), state), window.select(1, t)), 2e-6) << t;
    }
  }
}

TEST(Backends, ATraceDoesNotChangeTheAnswer) {
  const at::NoGradGuard no_grad;
  Rng rng(6);
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  const Tensor x = random_tensor(rng, {2, 30, 5}, at::kFloat);
  Mamba2State state = model.zero_state(2);
  ModelTrace trace;
  EXPECT_LE(distance(model.forward(x, state, {}, &trace), model.forward(x)), 2e-6);
  EXPECT_EQ(trace.layers.size(), 2U);
}

TEST(Backends, AModelSaysWhatItUses) {
  Mamba2SSM meta(small_model(), head_of(HeadKind::kRegression), at::kMeta);
  meta.use_kernels(Kernels::kNative);
  EXPECT_EQ(meta.kernels_in_use(), Kernels::kAten);
  Mamba2SSM cpu(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  EXPECT_EQ(cpu.kernels_in_use(), Kernels::kNative);
  cpu.use_kernels(Kernels::kAten);
  EXPECT_EQ(cpu.kernels_in_use(), Kernels::kAten);
}

}  // namespace
}  // namespace foxhunt::nn
