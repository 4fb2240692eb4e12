// A budget is kept: planned runs learn what unplanned ones learn, and a run that was lied to about
// its budget stops with its last whole step in a checkpoint.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "foxhunt/base/progress.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/train/checkpoint.h"
#include "foxhunt/train/mamba2_trainer.h"
#include "foxhunt/train/memory/cpu_allocator.h"
#include "foxhunt/train/memory/memory_error.h"
#include "foxhunt/train/training_test_data.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;
using test::TestData;

TestData data(std::int64_t length = 80) {
  return test::make_data(Rng(1), 10, length, 2,
                         [](const std::vector<float>& rows, std::int64_t t) -> std::int8_t {
                           return rows[static_cast<std::size_t>(2 * t)] > 0 ? kUp : kDown;
                         });
}

Mamba2Hyperparameters small(std::int64_t d_model = 32) {
  Mamba2Hyperparameters hyper;
  hyper.model.d_model = d_model;
  hyper.model.n_layer = 2;
  hyper.model.d_state = 8;
  hyper.model.headdim = 8;
  hyper.model.chunk_size = 16;
  hyper.train.epochs = 3;
  hyper.train.batch_size = 8;
  hyper.train.lanes = 4;
  hyper.train.threads = 2;
  hyper.train.schedule.lr = 0.01;
  return hyper;
}

const model::HeadConfig kHead{.n_features = 2, .n_classes = 3};

bundle::ModelContext context_of(const TestData& of) {
  return {.product = "ES",
          .features = {},
          .schema = of.set.schema,
          .normalizer = of.normalizer,
          .label = {},
          .config_sha256 = ""};
}

class Budget : public testing::Test {
 protected:
  Budget()
      : folder_(fs::temp_directory_path() /
                (std::string("foxhunt_budget_") +
                 testing::UnitTest::GetInstance()->current_test_info()->name() + "_" +
                 std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    use_counted_memory();
  }
  ~Budget() override {
    counted_memory()->set_limit(0);
    fs::remove_all(folder_);
  }
  fs::path folder_;
};

/// Training losses of three epochs, by epoch.
std::vector<double> losses(const TestData& of, const Mamba2Hyperparameters& hyper) {
  nn::Mamba2SSM model(hyper.to_model_config(), kHead, at::kCPU);
  model.use_kernels(hyper.train.kernels);
  model.recompute_blocks(hyper.train.recompute == Recompute::kBlocks);
  Mamba2SequenceModel sequence(model, 0.1, 1e3);
  WindowTrainer trainer(sequence, of.view(), hyper.train, Rng(1));
  std::vector<double> all;
  WindowTrainer::Hooks hooks;
  hooks.epoch_done = [&all](const EpochReport& report) {
    all.push_back(report.train_loss);
    all.push_back(report.valid_loss);
  };
  trainer.fit(hooks, ProgressMode::kOff);
  return all;
}

TEST_F(Budget, EveryWayToCutABatchLearnsTheSame) {
  const TestData of = data();
  const std::vector<double> whole = losses(of, small());
  ASSERT_EQ(whole.size(), 6U);
  struct Cut {
    std::int64_t lanes, micro, threads;
    Recompute recompute;
    nn::Kernels kernels;
    double tolerance;
  };
  // Same lanes and micro-batch: bit for bit, however much is recomputed and on however many
  // threads. Else sums of float32 in another order: 1e-7 of each gradient, a few dozen steps on.
  for (const Cut& cut : {Cut{4, 0, 2, Recompute::kBlocks, nn::Kernels::kNative, 0.0},
                         Cut{4, 0, 1, Recompute::kNone, nn::Kernels::kNative, 0.0},
                         Cut{4, 1, 2, Recompute::kNone, nn::Kernels::kNative, 2e-5},
                         Cut{1, 1, 1, Recompute::kBlocks, nn::Kernels::kNative, 2e-5},
                         Cut{2, 2, 2, Recompute::kBlocks, nn::Kernels::kNative, 2e-5},
                         Cut{1, 3, 1, Recompute::kBlocks, nn::Kernels::kAten, 2e-5}}) {
    Mamba2Hyperparameters hyper = small();
    hyper.train.lanes = cut.lanes;
    hyper.train.micro_batch = cut.micro;
    hyper.train.threads = cut.threads;
    hyper.train.recompute = cut.recompute;
    hyper.train.kernels = cut.kernels;
    const std::vector<double> other = losses(of, hyper);
    ASSERT_EQ(other.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(other[i], whole[i], cut.tolerance) << cut.lanes << " lanes, " << cut.micro;
  }
}

TEST_F(Budget, AStepThatIsRefusedLeavesNoTrace) {
  const TestData of = data();
  const Mamba2Hyperparameters hyper = small();
  nn::Mamba2SSM model(hyper.to_model_config(), kHead, at::kCPU);
  Mamba2SequenceModel sequence(model, 0.1, 1e3);
  WindowTrainer trainer(sequence, of.view(), hyper.train, Rng(1));
  std::string after_two;
  WindowTrainer::Hooks hooks;
  hooks.step_done = [&] {
    if (trainer.steps() != 2) return;
    after_two = nn::weights_hash(model);
    counted_memory()->release();
    counted_memory()->set_limit(counted_memory()->use().in_use / 2);  // nothing is given any more
  };
  EXPECT_THROW(trainer.fit(hooks, ProgressMode::kOff), MemoryError);
  EXPECT_EQ(trainer.steps(), 2);
  EXPECT_EQ(trainer.sampler_state().position, 2 * hyper.train.batch_size);
  EXPECT_EQ(nn::weights_hash(model), after_two);
}

TEST_F(Budget, ALieEndsWithExitCodeFourAndTheLastStepSaved) {
  Mamba2Hyperparameters hyper = small(64);
  TestData wide = data(400);
  wide.windows = {.length = 400, .burn_in = 8};
  nn::Mamba2SSM model(hyper.to_model_config(), kHead, at::kCPU);
  // A step takes more than 10 MB; nobody asked the planner.
  release_freed_memory();
  hyper.train.memory_budget = std::to_string(resident_set().now + 6'000'000);
  RunDir run = RunDir::create(folder_, false);
  Mamba2Trainer trainer(model, wide.view(), hyper, context_of(wide));
  trainer.write_into(run);
  try {
    trainer.fit(ProgressMode::kOff);
    FAIL() << "the budget did not matter";
  } catch (const MemoryError& error) {
    EXPECT_EQ(error.code(), ExitCode::kMemory);
    const std::string text = error.what();
    EXPECT_NE(text.find("saved in " + folder_.string()), std::string::npos) << text;
  }
  const CheckpointStore store(folder_, 1);
  const auto all = store.list();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].damage, "");
  EXPECT_EQ(all[0].step, trainer.windows().steps());
}

TEST_F(Budget, AnHonestBudgetIsNeverPassed) {
  TestData wide = data(400);
  wide.windows = {.length = 400, .burn_in = 8};
  Mamba2Hyperparameters hyper = small(64);
  nn::Mamba2SSM model(hyper.to_model_config(), kHead, at::kCPU);
  const std::int64_t budget = resident_set().now + 120'000'000;
  hyper.train.memory_budget = std::to_string(budget);
  RunDir run = RunDir::create(folder_, false);
  Mamba2Trainer trainer(model, wide.view(), hyper, context_of(wide));
  trainer.write_into(run);
  trainer.fit(ProgressMode::kOff);
  EXPECT_LE(resident_set().peak, budget);
}

}  // namespace
}  // namespace foxhunt::train
