// The layer, in windows and step by step, against golden values that another program made in double
// precision.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "foxhunt/nn/ssd_layer.h"
#include "foxhunt/nn/tensor_io.h"

#include "tests/golden/golden_case.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using golden::GoldenCase;

/// Largest difference over max(1, largest value). The golden programs agree among themselves to
/// 1e-15 in float64 and 5e-7 (gradients 1.4e-6) in float32; these leave room for another order of
/// summation.
struct Tolerance {
  double value, gradient;
};
Tolerance tolerance_of(at::ScalarType dtype) {
  return dtype == at::kDouble ? Tolerance{1e-12, 1e-10} : Tolerance{2e-6, 1e-5};
}

std::vector<double> values_of(const Tensor& t) {
  const Tensor flat = t.detach().to(at::kDouble).contiguous();
  const double* first = flat.const_data_ptr<double>();
  return {first, first + flat.numel()};
}

/// The layer of a case with everything that has a gradient.
struct Fixture {
  Fixture(const GoldenCase& c, at::ScalarType dtype)
      : golden(c), layer(c.config, 0, at::kCPU, dtype), u(leaf("u", dtype)) {
    for (auto& item : layer.named_parameters()) {
      item.value().detach().copy_(tensor_of(c.file.at(item.key()), at::kCPU));
      leaves[item.key()] = item.value();
    }
    const std::int64_t B = c.batch;
    if (c.has("init.ssm_state")) {
      state = {leaf("init.conv_state", dtype), leaf("init.ssm_state", dtype)};
      leaves["init.conv_state"] = state.conv;
      leaves["init.ssm_state"] = state.ssm;
    } else {
      const auto options = at::TensorOptions().dtype(dtype);
      state = {at::zeros({B, c.config.conv_channels(), c.config.d_conv}, options),
               at::zeros({B, c.config.n_heads(), c.config.headdim, c.config.d_state}, options)};
    }
    leaves["u"] = u;
    if (c.has("seq_idx")) marks.seq_idx = tensor_of(c.file.at("seq_idx"), at::kCPU);
    if (c.has("lengths")) marks.lengths = tensor_of(c.file.at("lengths"), at::kCPU);
  }
  Tensor leaf(const std::string& name, at::ScalarType dtype) const {
    return tensor_of(golden.file.at(name), at::kCPU).to(dtype).requires_grad_();
  }

  const GoldenCase& golden;
  SSDLayer layer;
  Tensor u;
  LayerState state;
  WindowMarks marks;
  std::map<std::string, Tensor> leaves;
};

struct Answers {
  Tensor out;
  LayerTrace trace;
  LayerState state;
};

void expect_meets(const Fixture& f, const Answers& got, const Tolerance& tolerance) {
  const GoldenCase& c = f.golden;
  const auto check = [&](const char* name, const Tensor& t, double limit) {
    EXPECT_LT(golden::error(values_of(t), c.reals(name)), limit) << name;
  };
  check("expect.out", got.out, tolerance.value);
  check("expect.y", got.trace.y, tolerance.value);
  check("expect.dt", got.trace.dt, tolerance.value);
  check("expect.conv_state", got.state.conv, tolerance.value);
  check("expect.ssm_state", got.state.ssm, tolerance.value);

  Tensor loss = (got.out * tensor_of(c.file.at("loss_weight.out"), at::kCPU)).sum();
  loss = loss + (got.state.ssm * tensor_of(c.file.at("loss_weight.ssm_state"), at::kCPU)).sum();
  if (c.has("loss_weight.conv_state")) {
    loss = loss + (got.state.conv * tensor_of(c.file.at("loss_weight.conv_state"), at::kCPU)).sum();
  }
  loss.backward();
  for (const auto& [name, leaf] : f.leaves) {
    ASSERT_TRUE(leaf.grad().defined()) << name;
    EXPECT_LT(golden::error(values_of(leaf.grad()), c.reals("grad." + name)), tolerance.gradient)
        << name;
  }
}

class LayerGoldenTest : public testing::TestWithParam<std::tuple<std::string, at::ScalarType>> {
 protected:
  at::ScalarType dtype() const { return std::get<1>(GetParam()); }
  Tolerance tolerance() const { return tolerance_of(dtype()); }
  GoldenCase golden_{std::get<0>(GetParam())};
};

TEST_P(LayerGoldenTest, WindowMeetsOutputsStatesAndGradients) {
  Fixture f(golden_, dtype());
  Answers got;
  got.state = f.state;
  got.out = f.layer.forward(f.u, &got.state, f.marks, &got.trace);
  expect_meets(f, got, tolerance());
}

TEST_P(LayerGoldenTest, WindowCutInTwoMeetsTheStatesBetween) {
  if (golden_.cut == 0) GTEST_SKIP() << "the case has no cut states";
  Fixture f(golden_, dtype());
  Answers got;
  got.state = f.state;
  LayerTrace second;
  const Tensor head = f.layer.forward(f.u.narrow(1, 0, golden_.cut), &got.state, {}, &got.trace);
  EXPECT_LT(golden::error(values_of(got.state.conv), golden_.reals("expect.cut.conv_state")),
            tolerance().value);
  EXPECT_LT(golden::error(values_of(got.state.ssm), golden_.reals("expect.cut.ssm_state")),
            tolerance().value);
  const std::int64_t rest = golden_.tokens - golden_.cut;
  const Tensor tail = f.layer.forward(f.u.narrow(1, golden_.cut, rest), &got.state, {}, &second);
  got.out = at::cat({head, tail}, 1);
  got.trace = {at::cat({got.trace.y, second.y}, 1), at::cat({got.trace.dt, second.dt}, 1), {}};
  expect_meets(f, got, tolerance());
}

/// Rows step on while they have tokens; a row's state restarts where its seq_idx changes.
Answers step_through(Fixture& f) {
  std::vector<Tensor> out, y, dt;
  Answers got;
  got.state = f.state;
  for (std::int64_t t = 0; t < f.golden.tokens; ++t) {
    LayerState next = got.state;
    if (f.marks.seq_idx.defined() && t > 0) {
      const Tensor restart =
          (f.marks.seq_idx.select(1, t) != f.marks.seq_idx.select(1, t - 1)).view({-1, 1, 1});
      next = {next.conv.masked_fill(restart, 0), next.ssm.masked_fill(restart.unsqueeze(-1), 0)};
    }
    LayerTrace trace;
    Tensor row = f.layer.step(f.u.select(1, t), next, &trace);
    if (f.marks.lengths.defined()) {
      const Tensor alive = (f.marks.lengths > t).view({-1, 1, 1});
      row = row.masked_fill(alive.squeeze(-1).logical_not(), 0);
      trace = {trace.y.masked_fill(alive.logical_not(), 0),
               trace.dt.masked_fill(alive.squeeze(-1).logical_not(), 0),
               {}};
      next = {at::where(alive, next.conv, got.state.conv),
              at::where(alive.unsqueeze(-1), next.ssm, got.state.ssm)};
    }
    got.state = next;
    out.push_back(row);
    y.push_back(trace.y);
    dt.push_back(trace.dt);
  }
  got.out = at::stack(out, 1);
  got.trace = {at::stack(y, 1), at::stack(dt, 1), {}};
  return got;
}

TEST_P(LayerGoldenTest, StepsMeetOutputsStatesAndGradients) {
  Fixture f(golden_, dtype());
  expect_meets(f, step_through(f), tolerance());
}

INSTANTIATE_TEST_SUITE_P(golden, LayerGoldenTest,
                         testing::Combine(testing::ValuesIn(golden::cases()),
                                          testing::Values(at::kDouble, at::kFloat)),
                         [](const auto& one) {
                           const bool wide = std::get<1>(one.param) == at::kDouble;
                           return golden::test_name(std::get<0>(one.param)) +
                                  (wide ? "_f64" : "_f32");
                         });

TEST(GoldenFolder, HoldsTheCasesThatTheLayerIsHeldTo) { EXPECT_GE(golden::cases().size(), 16U); }

}  // namespace
}  // namespace foxhunt::nn
