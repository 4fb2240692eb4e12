// The training loop on small hand-made data: determinism, accumulation, early stopping, bad steps,
// what crosses devices.
#include "foxhunt/train/window_trainer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/base/log.h"
#include "foxhunt/nn/meta_audit.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/training_test_data.h"

namespace foxhunt::train {
namespace {

using test::make_data;
using test::TestData;

/// up where the first feature is positive, else down: linear and without memory.
std::int8_t sign_label(const std::vector<float>& rows, std::int64_t t) {
  return rows[static_cast<std::size_t>(2 * t)] > 0 ? kUp : kDown;
}
TestData sign_data(std::uint64_t seed = 1) { return make_data(Rng(seed), 10, 80, 2, sign_label); }

model::Mamba2Config tiny() {
  model::Mamba2Config config;
  config.d_model = 8;
  config.n_layer = 1;
  config.d_state = 4;
  config.headdim = 4;
  config.chunk_size = 16;
  config.dt_limit_min = 1e-6;
  config.dt_limit_max = 1.0;
  return config;
}
const model::HeadConfig kHead{.n_features = 2, .n_classes = 3};

TrainConfig quick() {
  TrainConfig config;
  config.epochs = 3;
  config.batch_size = 8;
  config.schedule.lr = 0.02;
  return config;
}

struct Outcome {
  FitReport report;
  std::string hash;
  std::vector<double> losses;
};

Outcome train_once(const TestData& data, const TrainConfig& config, std::uint64_t seed = 1,
                   nn::Kernels kernels = nn::Kernels::kNative) {
  nn::Mamba2SSM model(tiny(), kHead, at::kCPU);
  model.use_kernels(kernels);
  model.initialise(seed);
  Mamba2SequenceModel sequence(model, config.a_min, config.a_max);
  WindowTrainer trainer(sequence, data.view(), config, Rng(seed));
  Outcome run;
  WindowTrainer::Hooks hooks;
  hooks.epoch_done = [&run](const EpochReport& report) { run.losses.push_back(report.train_loss); };
  run.report = trainer.fit(hooks, ProgressMode::kOff);
  run.hash = nn::weights_hash(model);
  return run;
}

/// logits = x w: for tests of the loop itself.
class Linear final : public SequenceModel {
 public:
  explicit Linear(double scale = 0.0)
      : weight_(at::full({3, 2}, scale, at::kFloat).requires_grad_()) {}
  at::Device device() const override { return at::kCPU; }
  const model::HeadConfig& head() const override { return kHead; }
  NamedParameters parameters() override { return {{"w", weight_}}; }
  at::Tensor forward(const at::Tensor& x) override { return at::linear(x, weight_) * factor; }
  at::Tensor answer(const at::Tensor& x) override {
    const at::NoGradGuard no_grad;
    return at::linear(x, weight_);
  }
  double factor = 1.0;  ///< NaN makes every gradient NaN

 private:
  at::Tensor weight_;
};

TEST(WindowTrainer, OneSeedGivesBitEqualWeights) {
  const TestData data = sign_data();
  const Outcome first = train_once(data, quick());
  const Outcome again = train_once(data, quick());
  EXPECT_EQ(first.hash, again.hash);
  EXPECT_EQ(first.losses, again.losses);
  EXPECT_NE(train_once(data, quick(), /*seed=*/2).hash, first.hash);
}

void expect_one_hash_on_any_threads(Precision precision) {
  const TestData data = sign_data();
  TrainConfig config = quick();
  config.precision = precision;
  config.lanes = 6;  // slices of one and of two windows
  config.threads = 1;
  const Outcome one = train_once(data, config);
  for (const std::int64_t threads : {2, 3, 5, 6}) {
    config.threads = threads;
    for (int again = 0; again < 2; ++again) {
      const Outcome many = train_once(data, config);
      EXPECT_EQ(many.hash, one.hash) << threads << " threads";
      EXPECT_EQ(many.losses, one.losses) << threads << " threads";
    }
  }
}

TEST(WindowTrainer, WeightsAreBitEqualForAnyNumberOfThreads) {
  expect_one_hash_on_any_threads(Precision::kFp32);
}

TEST(WindowTrainer, WeightsAreBitEqualForAnyNumberOfThreadsInBf16) {
  expect_one_hash_on_any_threads(Precision::kBf16);
}

TEST(WindowTrainer, LanesAndKernelsChangeNothingButRounding) {
  const TestData data = sign_data();
  TrainConfig config = quick();
  config.lanes = 1;
  const Outcome one = train_once(data, config);
  config.lanes = 5;
  const Outcome lanes = train_once(data, config);
  const Outcome aten = train_once(data, config, 1, nn::Kernels::kAten);
  // 2e-4: as for micro-batches below.
  for (std::size_t i = 0; i < one.losses.size(); ++i) {
    EXPECT_NEAR(lanes.losses[i], one.losses[i], 2e-4);
    EXPECT_NEAR(aten.losses[i], one.losses[i], 2e-4);
  }
}

TEST(WindowTrainer, LearnsALinearRule) {
  TrainConfig config = quick();
  config.epochs = 15;
  const Outcome run = train_once(sign_data(), config);
  // ln 3 = 1.10 knows nothing, ln 2 = 0.69 knows that flat never happens.
  EXPECT_LT(run.report.best_valid_loss, 0.3);
}

TEST(WindowTrainer, MicroBatchesKeepTheEffectiveBatch) {
  const TestData data = sign_data();
  TrainConfig config = quick();
  const Outcome whole = train_once(data, config);
  config.micro_batch = 3;  // 8 = 3 + 3 + 2
  const Outcome parts = train_once(data, config);
  ASSERT_EQ(whole.losses.size(), parts.losses.size());
  // 2e-4: the same sums in another order in float32, amplified by AdamW's division over a few dozen
  // steps.
  for (std::size_t i = 0; i < whole.losses.size(); ++i)
    EXPECT_NEAR(whole.losses[i], parts.losses[i], 2e-4);
}

TEST(WindowTrainer, StopsEarlyAndRestoresTheBestWeights) {
  // Labels without any rule: validation gets worse as the model learns the training noise by heart.
  Rng noise(3);
  const TestData data =
      make_data(Rng(2), 10, 60, 2, [&noise](const std::vector<float>&, std::int64_t) {
        return static_cast<std::int8_t>(noise.below(3));
      });
  TrainConfig config = quick();
  config.epochs = 60;
  config.patience = 3;
  config.schedule.kind = ScheduleKind::kConstant;
  nn::Mamba2SSM model(tiny(), kHead, at::kCPU);
  Mamba2SequenceModel sequence(model, config.a_min, config.a_max);
  WindowTrainer trainer(sequence, data.view(), config, Rng(1));
  std::vector<double> valid;
  WindowTrainer::Hooks hooks;
  hooks.epoch_done = [&valid](const EpochReport& report) { valid.push_back(report.valid_loss); };
  const FitReport report = trainer.fit(hooks, ProgressMode::kOff);
  EXPECT_EQ(report.stopped, "early stopping");
  EXPECT_EQ(report.epochs, report.best_epoch + 3);
  EXPECT_EQ(report.best_valid_loss, *std::min_element(valid.begin(), valid.end()));
  EXPECT_EQ(trainer.mean_loss(Part::kValid),
            report.best_valid_loss);  // of the weights the model now has
  EXPECT_NE(valid.back(), report.best_valid_loss);
}

TEST(WindowTrainer, SkipsAndCountsStepsWithoutAFiniteGradient) {
  const TestData data = sign_data();
  TrainConfig config = quick();
  log::set_console_level(log::Level::kError);
  Linear model;
  WindowTrainer trainer(model, data.view(), config, Rng(1));
  int steps = 0;
  WindowTrainer::Hooks hooks;
  hooks.step_done = [&] {
    model.factor = ++steps == 2 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  };
  const FitReport report = trainer.fit(hooks, ProgressMode::kOff);
  EXPECT_EQ(report.skipped_steps, 1);
  EXPECT_TRUE(std::isfinite(report.best_valid_loss));

  Linear broken;
  broken.factor = std::numeric_limits<double>::quiet_NaN();
  config.max_bad_steps = 4;
  WindowTrainer hopeless(broken, data.view(), config, Rng(1));
  EXPECT_THROW(hopeless.fit({}, ProgressMode::kOff), NotConvergedError);
  EXPECT_EQ(hopeless.steps(), 4);
  log::set_console_level(log::Level::kInfo);
}

TEST(WindowTrainer, AnInterruptionEndsBehindTheStep) {
  const TestData data = sign_data();
  Linear model;
  WindowTrainer trainer(model, data.view(), quick(), Rng(1));
  WindowTrainer::Hooks hooks;
  hooks.step_done = [&trainer] { set_interrupted(trainer.steps() == 2); };
  const FitReport report = trainer.fit(hooks, ProgressMode::kOff);
  set_interrupted(false);
  EXPECT_EQ(report.stopped, "interrupted");
  EXPECT_EQ(report.steps, 2);
  EXPECT_EQ(trainer.sampler_state().position, 16);
}

TEST(WindowTrainer, ClassWeightsBalanceTheClasses) {
  const TestData data = make_data(Rng(4), 10, 50, 2, [](const std::vector<float>&, std::int64_t t) {
    return static_cast<std::int8_t>(t % 10 == 0 ? kDown : kUp);
  });
  const ClassWeights weights = balanced_class_weights(data.set.sequences, data.split, Part::kTrain);
  EXPECT_DOUBLE_EQ(weights[kDown], 300.0 / (3 * 30));
  EXPECT_DOUBLE_EQ(weights[kFlat], 0.0);
  EXPECT_DOUBLE_EQ(weights[kUp], 300.0 / (3 * 270));
}

TEST(Mamba2SequenceModel, KeepsEveryDecayRateInsideItsLimitsWhateverTheOptimiserDoes) {
  TrainConfig config = quick();
  config.a_min = 0.5;
  config.a_max = 4.0;
  nn::Mamba2SSM model(tiny(), kHead, at::kCPU);
  Mamba2SequenceModel sequence(model, config.a_min, config.a_max);
  const auto rates = [&model] { return model.layer(0).A_log.detach().exp().to(at::kDouble); };
  const auto expect_inside = [&] {
    // 1e-6: A_log is float32.
    EXPECT_GE(rates().min().item<double>(), config.a_min * (1 - 1e-6));
    EXPECT_LE(rates().max().item<double>(), config.a_max * (1 + 1e-6));
  };
  {
    const at::NoGradGuard no_grad;
    model.layer(0).A_log.fill_(-50.0);
    model.layer(0).A_log[0].fill_(50.0);
  }
  sequence.after_step();
  expect_inside();
  config.schedule.lr = 1.0;  // absurd on purpose: every step would throw A_log by about one
  config.schedule.warmup_fraction = 0.0;
  const TestData data = sign_data();
  WindowTrainer trainer(sequence, data.view(), config, Rng(1));
  WindowTrainer::Hooks hooks;
  hooks.step_done = expect_inside;
  trainer.fit(hooks, ProgressMode::kOff);
  // The slowest decay that can now happen, as the model computes it: below 1, so no state grows
  // without bound.
  EXPECT_LT(std::exp(-static_cast<float>(tiny().dt_limit_min) * 0.5F), 1.0F);
}

TEST(Health, CountsStepSizesAtALimit) {
  nn::Mamba2SSM model(tiny(), kHead, at::kCPU);
  const at::Tensor x = at::zeros({2, 9, 2});
  EXPECT_EQ(examine(model, x).dt_at_limit_share, 0.0);
  {
    const at::NoGradGuard no_grad;
    model.layer(0).dt_bias.fill_(-100.0);
    model.layer(0).dt_bias[0].fill_(100.0);
  }
  const Health health = examine(model, x);
  EXPECT_EQ(health.dt_at_limit_share, 1.0);
  EXPECT_GT(health.parameter_norm, 100.0);
}

// The whole loop on the meta device, under the observer: what would stall or fail on CUDA is found
// here, by name.
TEST(WindowTrainer, MovesNothingBetweenDevicesButTheBatchAndTheTwoScalars) {
  const TestData data = sign_data();
  TrainConfig config = quick();
  config.epochs = 1;
  config.class_weights = true;
  nn::Mamba2SSM model(tiny(), kHead, at::kMeta);
  Mamba2SequenceModel sequence(model, config.a_min, config.a_max);
  WindowTrainer trainer(sequence, data.view(), config, Rng(1));
  int reads = 0;
  trainer.set_scalar_reader([&reads](const at::Tensor& tensor) {
    EXPECT_TRUE(tensor.is_meta());
    ++reads;
    return std::vector<double>(static_cast<std::size_t>(tensor.numel()), 1.0);
  });
  const nn::MetaAudit audit;
  const FitReport report = trainer.fit({}, ProgressMode::kOff);
  EXPECT_GT(audit.operations(), 1000);
  EXPECT_EQ(audit.mixed(), std::set<std::string>{});
  for (const std::string& transfer : audit.transfers()) {
    EXPECT_THAT(transfer, testing::ContainsRegex("cpu.* -> meta$"))
        << "only batches may cross, and only this way";
  }
  EXPECT_EQ(reads, report.steps + 1);  // one a step, one for the validation loss
}

}  // namespace
}  // namespace foxhunt::train
