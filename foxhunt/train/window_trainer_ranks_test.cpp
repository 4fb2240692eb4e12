// Several ranks train one model: as threads of this process, against a trainer alone.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/ranks/local_ranks.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/training_test_data.h"
#include "foxhunt/train/window_trainer.h"

namespace foxhunt::train {
namespace {

using test::make_data;
using test::TestData;

std::int8_t sign_label(const std::vector<float>& rows, std::int64_t t) {
  return rows[static_cast<std::size_t>(2 * t)] > 0 ? kUp : kDown;
}

model::Mamba2Config tiny() {
  model::Mamba2Config config;
  config.d_model = 8;
  config.n_layer = 2;
  config.d_state = 4;
  config.headdim = 4;
  config.chunk_size = 16;
  config.dt_limit_min = 1e-6;
  config.dt_limit_max = 1.0;
  return config;
}

TrainConfig quick() {
  TrainConfig config;
  config.epochs = 2;
  config.batch_size = 8;
  config.lanes = 6;  // slices of one and of two windows
  config.threads = 2;
  config.schedule.lr = 0.02;
  return config;
}

struct Outcome {
  std::string hash;
  std::vector<double> numbers;  ///< of every epoch
  FitReport report;
  std::int64_t lanes = 0;
};

Outcome train_one(const TestData& data, const TrainConfig& config, ranks::Ranks* ranks,
                  nn::Kernels kernels = nn::Kernels::kNative, bool interrupt = false) {
  nn::Mamba2SSM model(tiny(), {.n_features = 2, .n_classes = 3}, at::kCPU);
  model.use_kernels(kernels);
  model.initialise(3);
  Mamba2SequenceModel sequence(model, config.a_min, config.a_max);
  WindowTrainer trainer(sequence, data.view(), config, Rng(3), ranks);
  Outcome out;
  WindowTrainer::Hooks hooks;
  hooks.epoch_done = [&out](const EpochReport& r) {
    for (const double x : {r.train_loss, r.valid_loss, r.grad_norm_mean, r.grad_norm_max, r.lr})
      out.numbers.push_back(x);
  };
  if (interrupt) {
    hooks.step_done = [&trainer] {
      if (trainer.steps() == 3) set_interrupted(true);
    };
  }
  out.report = trainer.fit(hooks, ProgressMode::kOff);
  out.hash = nn::weights_hash(model);
  out.lanes = trainer.lanes().size();
  return out;
}

std::vector<Outcome> train_many(int size, const TestData& data, const TrainConfig& config,
                                nn::Kernels kernels = nn::Kernels::kNative) {
  const auto ranks = ranks::local_ranks(size);
  std::vector<Outcome> out(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < out.size(); ++r)
    threads.emplace_back([&, r] { out[r] = train_one(data, config, ranks[r].get(), kernels); });
  for (std::thread& thread : threads) thread.join();
  return out;
}

void expect_the_bits_of_one(const TrainConfig& config) {
  // 10 sequences of 83 rows: the last batch of an epoch is smaller than the number of lanes.
  const TestData data = make_data(Rng(1), 10, 83, 2, sign_label);
  const Outcome alone = train_one(data, config, nullptr);
  for (const int size : {1, 2, 3, 6}) {
    for (const Outcome& rank : train_many(size, data, config)) {
      EXPECT_EQ(rank.hash, alone.hash) << size << " ranks";
      EXPECT_EQ(rank.numbers, alone.numbers) << size << " ranks";
    }
  }
}

TEST(WindowTrainerRanks, AnyNumberOfRanksGivesTheBitsOfOne) { expect_the_bits_of_one(quick()); }

TEST(WindowTrainerRanks, AlsoWithMicroBatchesAndClassWeights) {
  TrainConfig config = quick();
  config.micro_batch = 1;
  config.class_weights = true;
  expect_the_bits_of_one(config);
}

TEST(WindowTrainerRanks, ShareTheLanesOut) {
  const TestData data = make_data(Rng(1), 10, 80, 2, sign_label);
  std::vector<std::int64_t> lanes;
  for (const Outcome& rank : train_many(4, data, quick())) lanes.push_back(rank.lanes);
  EXPECT_THAT(lanes, testing::ElementsAre(1, 2, 1, 2));
}

TEST(WindowTrainerRanks, WithoutReplicasEachWorksOneLaneAndOnlyRoundingDiffers) {
  const TestData data = make_data(Rng(1), 10, 80, 2, sign_label);
  const Outcome alone = train_one(data, quick(), nullptr, nn::Kernels::kAten);
  const std::vector<Outcome> ranks = train_many(2, data, quick(), nn::Kernels::kAten);
  EXPECT_EQ(ranks[0].hash, ranks[1].hash);
  // 2e-4: the same sums in another order in float32, amplified by AdamW's division over a few dozen
  // steps.
  for (std::size_t i = 0; i < alone.numbers.size(); ++i)
    EXPECT_NEAR(ranks[0].numbers[i], alone.numbers[i], 2e-4 * std::max(1.0, alone.numbers[i]));
}

TEST(WindowTrainerRanks, AStepThatLosesARankLeavesNoTrace) {
  const TestData data = make_data(Rng(1), 10, 80, 2, sign_label);
  auto ranks = ranks::local_ranks(2);
  constexpr std::int64_t kLast = 2;  // within an epoch of three steps
  std::thread other([&] {
    nn::Mamba2SSM model(tiny(), {.n_features = 2, .n_classes = 3}, at::kCPU);
    model.initialise(3);
    Mamba2SequenceModel sequence(model, quick().a_min, quick().a_max);
    WindowTrainer trainer(sequence, data.view(), quick(), Rng(3), ranks[1].get());
    WindowTrainer::Hooks hooks;
    hooks.step_done = [&] {
      if (trainer.steps() == kLast) throw std::runtime_error("dies between two steps");
    };
    EXPECT_THROW(trainer.fit(hooks, ProgressMode::kOff), std::runtime_error);
    ranks[1].reset();
  });
  nn::Mamba2SSM model(tiny(), {.n_features = 2, .n_classes = 3}, at::kCPU);
  model.initialise(3);
  Mamba2SequenceModel sequence(model, quick().a_min, quick().a_max);
  WindowTrainer trainer(sequence, data.view(), quick(), Rng(3), ranks[0].get());
  WindowTrainer::Hooks hooks;
  std::string hash;
  std::int64_t position = 0;
  hooks.step_done = [&] {
    hash = nn::weights_hash(model);
    position = trainer.state().windows;
  };
  EXPECT_THROW(trainer.fit(hooks, ProgressMode::kOff), ranks::LostRankError);
  other.join();
  EXPECT_TRUE(trainer.step_undone());
  EXPECT_EQ(trainer.steps(), kLast);
  EXPECT_EQ(nn::weights_hash(model), hash);
  EXPECT_EQ(trainer.state().windows, position);
}

TEST(WindowTrainerRanks, MoreRanksThanLanesAreRefusedByName) {
  const TestData data = make_data(Rng(1), 10, 80, 2, sign_label);
  TrainConfig config = quick();
  config.lanes = 2;
  const auto ranks = ranks::local_ranks(3);
  try {
    train_one(data, config, ranks[0].get());
    FAIL() << "expected an error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("3 ranks share 2 lanes"));
    EXPECT_THAT(error.what(), testing::HasSubstr("train.lanes"));
  }
}

TEST(WindowTrainerRanks, AnInterruptionStopsAllAtTheSameStep) {
  const TestData data = make_data(Rng(1), 10, 80, 2, sign_label);
  const auto ranks = ranks::local_ranks(2);
  std::vector<Outcome> out(2);
  std::thread other([&] {
    out[1] = train_one(data, quick(), ranks[1].get(), nn::Kernels::kNative, /*interrupt=*/true);
  });
  out[0] = train_one(data, quick(), ranks[0].get());
  other.join();
  set_interrupted(false);
  for (const Outcome& rank : out) {
    EXPECT_EQ(rank.report.stopped, "interrupted");
    EXPECT_EQ(rank.report.steps, out[0].report.steps);
    EXPECT_EQ(rank.hash, out[0].hash);
  }
}

}  // namespace
}  // namespace foxhunt::train
