// The model on a real GPU against the CPU. Built everywhere (CUDA is loaded at run time), skipped
// by name where there is no GPU. A program of its own: CUDA's half of LibTorch must be loaded
// before anything asks about CUDA.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/nn/device_check.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/nn/meta_audit.h"
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
