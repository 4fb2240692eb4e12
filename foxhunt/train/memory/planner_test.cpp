// The planner over a made-up cost of memory: a closed form that the tests can solve themselves.
#include "foxhunt/train/memory/planner.h"

#include <gtest/gtest.h>

#include "foxhunt/train/memory/memory_error.h"

namespace foxhunt::train {
namespace {

constexpr std::int64_t kMB = 1'000'000;

/// 100 MB, 10 a lane's gradients, 20 a window that is held (5 with recomputation), by lanes that
/// run at once.
MemoryEstimate made_up(const ExperimentConfig& config) {
  MemoryEstimate e;
  e.device = "cpu";
  e.plan = step_plan(config, {.rows = 1000, .longest = 500, .source = "made up"}, false, 4);
  const std::int64_t window = config.hyper.train.recompute == Recompute::kBlocks ? 5 : 20;
  const std::int64_t bytes =
      kMB * (100 + 10 * e.plan.lanes + window * e.plan.micro * e.plan.threads);
  e.parts = {{"all", bytes, ""}};
  e.phases = {{"training step", bytes, bytes}};
  return e;
}

ExperimentConfig configured() {
  ExperimentConfig config;
  config.hyper.train.batch_size = 64;
  config.hyper.train.lanes = 8;
  config.hyper.train.threads = 4;
  return config;
}

std::int64_t need(const ExperimentConfig& config) { return made_up(config).fullest().total; }

TEST(MemoryPlanner, LeavesWhatFitsAsItIs) {
  ExperimentConfig config = configured();  // 100 + 80 + 20 8 4 = 820 MB
  EXPECT_EQ(need(config), 820 * kMB);
  const MemoryPlan plan = plan_memory(config, 870 * kMB, made_up);
  EXPECT_FALSE(plan.changed);
  EXPECT_EQ(config.hyper.train.micro_batch, 0);
  EXPECT_EQ(config.hyper.train.lanes, 8);
  EXPECT_EQ(config.hyper.train.recompute, Recompute::kNone);
}

TEST(MemoryPlanner, TakesSmallerMicroBatchesBeforeItRecomputes) {
  ExperimentConfig config = configured();
  const MemoryPlan plan = plan_memory(config, 600 * kMB, made_up);  // 95 % are 570
  EXPECT_TRUE(plan.changed);
  EXPECT_EQ(config.hyper.train.micro_batch, 4);  // 500 MB; 8 would be 820
  EXPECT_EQ(config.hyper.train.lanes, 8);
  EXPECT_EQ(config.hyper.train.threads, 4);
  EXPECT_EQ(config.hyper.train.recompute, Recompute::kNone);
  EXPECT_EQ(plan.estimate.fullest().total, need(config));
  EXPECT_NE(plan.text.find("as configured it would need"), std::string::npos) << plan.text;
}

TEST(MemoryPlanner, GivesUpLanesThatOnlyWaitBeforeItRecomputes) {
  ExperimentConfig config = configured();
  plan_memory(config, 250 * kMB, made_up);  // 8 lanes need 260 at least, 4 on 4 threads 220
  EXPECT_EQ(config.hyper.train.recompute, Recompute::kNone);
  EXPECT_EQ(config.hyper.train.lanes, 4);
  EXPECT_EQ(made_up(config).plan.threads, 4);
}

TEST(MemoryPlanner, RecomputesBeforeCoresStandIdle) {
  ExperimentConfig config = configured();
  plan_memory(config, 220 * kMB, made_up);  // 209 to plan with
  EXPECT_EQ(config.hyper.train.recompute, Recompute::kBlocks);
  EXPECT_EQ(made_up(config).plan.threads, 4);
  EXPECT_LE(need(config), 209 * kMB);
}

TEST(MemoryPlanner, GivesUpCoresAndLanesLast) {
  ExperimentConfig config = configured();
  plan_memory(config, 124 * kMB, made_up);  // one lane of one window, recomputed: 115
  EXPECT_EQ(config.hyper.train.lanes, 1);
  EXPECT_EQ(config.hyper.train.micro_batch, 1);
  EXPECT_EQ(config.hyper.train.recompute, Recompute::kBlocks);
  EXPECT_EQ(config.hyper.train.batch_size, 64);
}

TEST(MemoryPlanner, NeverPlansOverTheBudgetAndAlwaysFindsWhatThereIs) {
  for (std::int64_t budget = 122; budget < 900; budget += 7) {
    ExperimentConfig config = configured();
    plan_memory(config, budget * kMB, made_up);
    EXPECT_LE(need(config), budget * kMB * 95 / 100) << budget;
    EXPECT_EQ(config.hyper.train.batch_size, 64);
  }
}

TEST(MemoryPlanner, SaysTheLeastThatWouldDoAndWhatToChange) {
  ExperimentConfig config = configured();
  const ExperimentConfig before = config;
  try {
    plan_memory(config, 120 * kMB, made_up);
    FAIL();
  } catch (const MemoryError& error) {
    EXPECT_EQ(error.code(), ExitCode::kMemory);
    const std::string text = error.what();
    EXPECT_NE(text.find("115 MiB"), std::string::npos) << text;  // 115 MB over 95 %, in MiB
    EXPECT_NE(text.find("model.d_model"), std::string::npos) << text;
  }
  EXPECT_EQ(config.hyper.train.micro_batch, before.hyper.train.micro_batch);
  EXPECT_EQ(config.hyper.train.lanes, before.hyper.train.lanes);
}

TEST(MemoryPlanner, KeepsARecomputationThatWasAskedFor) {
  ExperimentConfig config = configured();
  config.hyper.train.recompute = Recompute::kBlocks;  // 100 + 80 + 5 8 4 = 340
  plan_memory(config, 300 * kMB, made_up);
  EXPECT_EQ(config.hyper.train.recompute, Recompute::kBlocks);
}

}  // namespace
}  // namespace foxhunt::train
