// The model on a real GPU against the CPU. Built everywhere (CUDA is loaded at run time), skipped
// by name where there is no GPU. A program of its own: CUDA's half of LibTorch must be loaded
// before anything asks about CUDA.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/kernels/cuda/trusted.h"
#include "foxhunt/nn/check.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/nn/device_check.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/nn/meta_audit.h"
#include "foxhunt/nn/ops/ssd_gpu.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/training_step.h"

namespace foxhunt {
namespace {

class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    const nn::CudaReport report = nn::cuda_report();
    if (!report.available) GTEST_SKIP() << "no GPU: " << report.reason;
    nn::open_device(nn::parse_device("cuda"));
  }
  const at::Device cuda_ = nn::at_device({.kind = nn::DeviceKind::kCuda, .index = 0});
  const model::HeadConfig head_{.n_features = 12};
  model::Mamba2Config config_ = model::Mamba2Config::default_hft();
};

/// Largest difference over max(1, largest value).
double distance(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor wide_a = a.to(at::Device(at::kCPU), at::kDouble);
  const at::Tensor wide_b = b.to(at::Device(at::kCPU), at::kDouble);
  return ((wide_a - wide_b).abs().max() / wide_b.abs().max().clamp_min(1.0)).item<double>();
}

TEST_F(CudaTest, ForwardStepAndGradientsEqualTheCpus) {
  nn::Mamba2SSM here(config_, head_, at::kCPU, at::kDouble);
  nn::Mamba2SSM there(config_, head_, cuda_, at::kDouble);
  here.initialise(3);
  there.initialise(3);
  EXPECT_EQ(nn::weights_hash(here), nn::weights_hash(there));
  const at::Tensor x = at::randn({3, 70, 12}, at::TensorOptions(at::kDouble));
  const at::Tensor want = here.forward(x);
  const at::Tensor got = there.forward(x.to(cuda_));
  EXPECT_EQ(got.device(), cuda_);
  EXPECT_LT(distance(got, want), 1e-11);  // float64, sums in another order
  want.square().sum().backward();
  got.square().sum().backward();
  const auto mine = here.named_parameters();
  for (const auto& item : there.named_parameters()) {
    EXPECT_LT(distance(item.value().grad(), mine[item.key()].grad()), 1e-9) << item.key();
  }
  nn::Mamba2State state = there.zero_state(3);
  for (std::int64_t t = 0; t < 5; ++t) {
    EXPECT_LT(distance(there.step(x.select(1, t).to(cuda_), state), want.select(1, t)), 1e-11);
  }
}

TEST_F(CudaTest, TheOwnKernelsAreTrustedAndAgreeWithLibTorchs) {
  const nn::Mamba2SSM model(config_, head_, cuda_);
  ASSERT_EQ(model.kernels_in_use(), nn::Kernels::kNative) << kernels::cuda::trust_in(0).text;
  for (const std::int64_t tokens : {1, 8, 77, 256}) {
    nn::CheckOptions options;
    options.device = {.kind = nn::DeviceKind::kCuda, .index = 0};
    options.batch = 3;
    options.tokens = tokens;
    const nn::BackendCheck check = nn::check_backends(config_, head_, options);
    // Two float32 models of some layers; a gradient adds a few hundred rows. LibTorch's products of
    // float32 are not TF32 unless asked for.
    for (const nn::TensorCheck& t : check.tensors) EXPECT_LT(t.relative_error, 1e-4) << t.name;
  }
}

/// Operands of one window on the GPU, all with gradients.
struct Window {
  nn::SsdSizes sizes{4, 16, 2, 12};
  at::Tensor xbc, dt, A, D, state;

  Window(at::Device device, std::int64_t batch, std::int64_t tokens) {
    const auto draw = [&](at::IntArrayRef shape, double lo, double hi) {
      return at::empty(shape, at::TensorOptions(at::kFloat))
          .uniform_(lo, hi)
          .to(device)
          .requires_grad_(true);
    };
    xbc = draw({batch, tokens, 4 * 16 + 2 * 2 * 12}, -1, 1);
    dt = draw({batch, tokens, 4}, 0.001, 0.5);
    A = draw({4}, -8, -1);
    D = draw({4}, -1, 1);
    state = draw({batch, 4, 16, 12}, -1, 1);
  }
  nn::SsdResult run(const at::Tensor& inputs) const {
    return nn::ssd_window_gpu(sizes, inputs, dt, A, D, state, at::Tensor());
  }
  /// Gradients of a fixed function of both results.
  std::vector<at::Tensor> gradients() {
    for (at::Tensor* t : {&xbc, &dt, &A, &D, &state}) t->mutable_grad() = at::Tensor();
    const nn::SsdResult r = run(xbc);
    (r.y.square().sum() + r.state.square().sum()).backward();
    return {xbc.grad(), dt.grad(), A.grad(), D.grad(), state.grad()};
  }
};

TEST_F(CudaTest, TwoBackwardPassesOfTheOwnKernelsGiveTheSameBits) {
  Window window(cuda_, 64, 100);
  const std::vector<at::Tensor> first = window.gradients();
  const std::vector<at::Tensor> second = window.gradients();
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(at::equal(first[i], second[i])) << i;
}

TEST_F(CudaTest, BatchesBeyond65535RowsRun) {
  const at::NoGradGuard no_grad;
  const Window window(cuda_, 70000, 8);
  const nn::SsdResult all = window.run(window.xbc);
  const nn::SsdResult last = nn::ssd_window_gpu(
      window.sizes, window.xbc.narrow(0, 69000, 1000), window.dt.narrow(0, 69000, 1000), window.A,
      window.D, window.state.narrow(0, 69000, 1000), at::Tensor());
  EXPECT_TRUE(at::equal(all.y.narrow(0, 69000, 1000), last.y));
  EXPECT_TRUE(at::equal(all.state.narrow(0, 69000, 1000), last.state));
}

TEST_F(CudaTest, Bfloat16InputsAreRoundedAndNothingElse) {
  const at::NoGradGuard no_grad;
  const Window window(cuda_, 2, 90);
  const at::Tensor narrow = window.xbc.to(at::kBFloat16);
  const nn::SsdResult got = window.run(narrow);
  const nn::SsdResult want = window.run(narrow.to(at::kFloat));
  EXPECT_EQ(got.y.scalar_type(), at::kBFloat16);
  EXPECT_LT(distance(got.y, want.y), 4e-3);  // 2^-8: y is stored as bfloat16
  EXPECT_TRUE(at::equal(got.state, want.state));
}

TEST_F(CudaTest, AStepWithGradientsIsAWindowOfOneToken) {
  const Window window(cuda_, 5, 1);
  const auto& w = window;
  const nn::SsdResult step =
      nn::ssd_step_gpu(w.sizes, w.xbc.squeeze(1), w.dt.squeeze(1), w.A, w.D, w.state);
  EXPECT_TRUE(step.y.requires_grad());
  const at::NoGradGuard no_grad;
  const nn::SsdResult plain =
      nn::ssd_step_gpu(w.sizes, w.xbc.squeeze(1), w.dt.squeeze(1), w.A, w.D, w.state);
  EXPECT_LT(distance(step.y, plain.y), 1e-5);  // sums of 12 and 16 products in other orders
  EXPECT_LT(distance(step.state, plain.state), 1e-6);
}

TEST_F(CudaTest, AnAccumulatedStepCrossesNoDevice) {
  nn::Mamba2SSM model(config_, head_, cuda_);
  train::Mamba2SequenceModel sequence(model, 0.1, 1e3);
  train::Optimizer optimizer(sequence.parameters(), {});
  const auto options = at::TensorOptions(cuda_);
  train::DeviceBatch batch;
  batch.x = at::randn({2, 64, 12}, options);
  batch.targets = {.classes = at::zeros({2, 64}, options.dtype(at::kLong)),
                   .values = at::zeros({2, 64}, options),
                   .weights = at::ones({2, 64}, options)};
  const nn::MetaAudit audit;
  train::accumulate(sequence, batch, 128.0, train::Precision::kFp32);
  optimizer.clip(optimizer.grad_norm());
  optimizer.step(1e-3);
  sequence.after_step();
  EXPECT_GT(audit.operations(), 100);
  EXPECT_EQ(audit.mixed(), std::set<std::string>{});
  EXPECT_EQ(audit.transfers(), std::set<std::string>{});
}

TEST_F(CudaTest, AMixedCallIsRefusedNamingBothDevices) {
  nn::Mamba2SSM model(config_, head_, cuda_);
  try {
    model.forward(at::zeros({1, 4, 12}));
    FAIL() << "expected DeviceError";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("cpu"));
    EXPECT_THAT(error.what(), testing::HasSubstr("cuda"));
  }
}

}  // namespace
}  // namespace foxhunt
