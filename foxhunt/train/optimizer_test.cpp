// AdamW, clipping and losses against golden values and closed forms.
#include "foxhunt/train/optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "foxhunt/model/safetensors.h"
#include "foxhunt/train/losses.h"

namespace foxhunt::train {
namespace {

at::Tensor tensor_of(const model::TensorView& view) {
  at::Tensor tensor = at::empty(view.shape, at::TensorOptions(at::kDouble));
  EXPECT_EQ(view.dtype, model::DType::kF64) << view.name;
  std::memcpy(tensor.mutable_data_ptr<double>(), view.bytes.data(), view.bytes.size());
  return tensor;
}

TEST(OptimizerGolden, TwentyStepsOfAdamWMeetTheReference) {
  const auto file = model::SafetensorsFile::open("tests/golden/stats/adamw20.safetensors");
  const auto golden = [&file](const std::string& name) { return tensor_of(file.at(name)); };
  NamedParameters parameters;
  const std::vector<std::string> names{"w1", "b1", "w2", "b2"};
  for (const std::string& name : names) {
    parameters.emplace_back(name, golden("param." + name).select(0, 0).clone().requires_grad_());
  }
  Optimizer optimizer(
      parameters,
      {.beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .weight_decay = 0.1, .clip_norm = 2.5});
  const Schedule schedule(
      {.kind = ScheduleKind::kCosine, .lr = 0.05, .warmup_fraction = 0.2, .floor_fraction = 0.1},
      20);
  const at::Tensor lrs = golden("lr");
  const at::Tensor norms = golden("grad_norm");
  for (std::int64_t t = 0; t < 20; ++t) {
    optimizer.zero_grad();
    for (auto& [name, tensor] : parameters)
      tensor.mutable_grad() = golden("grad." + name).select(0, t).clone();
    const at::Tensor norm = optimizer.grad_norm();
    // 1e-12: float64 sums of 26 squares in another order.
    EXPECT_NEAR(norm.item<double>(), norms[t].item<double>(), 1e-12);
    EXPECT_NEAR(schedule.lr(t), lrs[t].item<double>(), 1e-15);
    optimizer.clip(norm);
    optimizer.step(schedule.lr(t));
    for (const auto& [name, tensor] : parameters) {
      // 1e-12: the reference agrees with numpy to 1e-13 over the twenty steps.
      EXPECT_LT((tensor - golden("param." + name).select(0, t + 1)).abs().max().item<double>(),
                1e-12)
          << name << " after step " << t;
    }
  }
  for (const auto& [name, tensor] : optimizer.state()) {
    if (name.rfind("exp_avg.", 0) == 0) {
      EXPECT_LT((tensor - golden("final_m." + name.substr(8))).abs().max().item<double>(), 1e-13)
          << name;
    }
  }
}

TEST(Optimizer, ContinuesFromItsSavedStateBitForBit) {
  const auto fresh = [] {
    return NamedParameters{{"w", at::arange(6, at::kFloat).view({2, 3}).requires_grad_()},
                           {"b", at::ones({3}, at::kFloat).requires_grad_()}};
  };
  const auto steps = [](const NamedParameters& parameters, Optimizer& optimizer, int from, int to) {
    for (int t = from; t < to; ++t) {
      for (const auto& [name, tensor] : parameters)
        tensor.mutable_grad() = at::full_like(tensor, 0.1 * (t + 1));
      optimizer.step(0.01);
    }
  };
  const NamedParameters whole = fresh();
  Optimizer one(whole, {});
  steps(whole, one, 0, 7);

  const NamedParameters first = fresh();
  Optimizer before(first, {});
  steps(first, before, 0, 3);
  const NamedParameters second = fresh();
  {
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < second.size(); ++i) second[i].second.copy_(first[i].second);
  }
  Optimizer after(second, {});
  after.load_state(before.state());
  steps(second, after, 3, 7);
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_TRUE(at::equal(whole[i].second, second[i].second));
}

TEST(Optimizer, DecaysMatricesOnly) {
  const NamedParameters parameters{{"in_proj.weight", at::ones({2, 2}).requires_grad_()},
                                   {"A_log", at::ones({2}).requires_grad_()}};
  Optimizer optimizer(parameters, {.weight_decay = 0.5});
  for (const auto& [name, tensor] : parameters) tensor.mutable_grad() = at::zeros_like(tensor);
  optimizer.step(0.1);
  EXPECT_FLOAT_EQ(parameters[0].second[0][0].item<float>(), 0.95F);  // 1 - lr * decay
  EXPECT_FLOAT_EQ(parameters[1].second[0].item<float>(), 1.0F);
}

TEST(Losses, HaveTheirClosedForms) {
  const at::Tensor outputs =
      at::tensor({0.0, std::log(3.0), 2.0, 2.0}, at::kDouble).view({1, 2, 2});
  Targets targets{.classes = at::tensor({1, 0}, at::kLong).view({1, 2}),
                  .values = {},
                  .weights = at::tensor({1.0, 2.0}, at::kDouble).view({1, 2})};
  const model::HeadConfig classes{.kind = model::HeadKind::kClassification, .n_classes = 2};
  // -ln(3/4) + 2 (-ln(1/2)); 1e-12 for float64.
  EXPECT_NEAR(loss_sum(outputs, targets, classes).item<double>(),
              -std::log(0.75) + 2 * std::log(2.0), 1e-12);

  targets.values = at::tensor({1.0, -1.0}, at::kDouble).view({1, 2});
  const model::HeadConfig regression{.kind = model::HeadKind::kRegression};
  const at::Tensor one = at::tensor({3.0, 0.0}, at::kDouble).view({1, 2, 1});
  EXPECT_NEAR(loss_sum(one, targets, regression).item<double>(), 0.5 * 4 + 2 * 0.5 * 1, 1e-12);

  const model::HeadConfig quantiles{.kind = model::HeadKind::kQuantiles, .quantiles = {0.1, 0.9}};
  // Row 1: e = 1 and -1 -> (0.1 + 0.1) / 2; row 2: e = -3 and -3 -> (2.7 + 0.3) / 2, twice.
  EXPECT_NEAR(
      loss_sum(at::tensor({0.0, 2.0, 2.0, 2.0}, at::kDouble).view({1, 2, 2}), targets, quantiles)
          .item<double>(),
      0.1 + 2 * 1.5, 1e-12);
}

TEST(Losses, MicroBatchesAddUpToTheBatch) {
  const at::Tensor outputs = at::linspace(-2, 2, 4 * 5 * 3, at::kDouble).view({4, 5, 3});
  const Targets all{.classes = at::arange(20, at::kLong).remainder(3).view({4, 5}),
                    .values = {},
                    .weights = at::arange(20, at::kDouble).remainder(4).view({4, 5})};
  const model::HeadConfig head{.n_classes = 3};
  double parts = 0;
  for (std::int64_t i = 0; i < 4; ++i) {
    const Targets part{.classes = all.classes.narrow(0, i, 1),
                       .values = {},
                       .weights = all.weights.narrow(0, i, 1)};
    parts += loss_sum(outputs.narrow(0, i, 1), part, head).item<double>();
  }
  // 1e-12: the same 20 terms summed in another order.
  EXPECT_NEAR(parts, loss_sum(outputs, all, head).item<double>(), 1e-12);
}

}  // namespace
}  // namespace foxhunt::train
