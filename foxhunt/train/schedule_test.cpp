#include "foxhunt/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace foxhunt::train {
namespace {

TEST(Schedule, WarmsUpThenFollowsTheCosineToItsFloor) {
  ScheduleConfig config{
      .kind = ScheduleKind::kCosine, .lr = 0.05, .warmup_fraction = 0.2, .floor_fraction = 0.1};
  const Schedule schedule(config, 20);
  ASSERT_EQ(schedule.warmup_steps(), 4);
  for (int t = 0; t < 4; ++t) EXPECT_DOUBLE_EQ(schedule.lr(t), 0.05 * (t + 1) / 4);
  for (int t = 4; t < 20; ++t) {
    const double x = (t - 3) / 16.0;
    EXPECT_DOUBLE_EQ(schedule.lr(t), 0.005 + 0.5 * 0.045 * (1 + std::cos(std::numbers::pi * x)));
  }
  EXPECT_DOUBLE_EQ(schedule.lr(19), 0.005);
  EXPECT_DOUBLE_EQ(schedule.lr(500), 0.005);  // past the end it stays
}

TEST(Schedule, LinearConstantAndStepHaveTheirClosedForms) {
  ScheduleConfig config{
      .kind = ScheduleKind::kLinear, .lr = 1.0, .warmup_fraction = 0.0, .floor_fraction = 0.0};
  EXPECT_DOUBLE_EQ(Schedule(config, 10).lr(4), 0.5);
  EXPECT_DOUBLE_EQ(Schedule(config, 10).lr(9), 0.0);
  config.kind = ScheduleKind::kConstant;
  EXPECT_DOUBLE_EQ(Schedule(config, 10).lr(7), 1.0);
  config.kind = ScheduleKind::kStep;
  config.step_every = 3;
  EXPECT_DOUBLE_EQ(Schedule(config, 10).lr(2), 1.0);
  EXPECT_DOUBLE_EQ(Schedule(config, 10).lr(3), 0.5);
  EXPECT_DOUBLE_EQ(Schedule(config, 10).lr(9), 0.125);
}

}  // namespace
}  // namespace foxhunt::train
