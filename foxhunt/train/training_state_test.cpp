#include "foxhunt/train/training_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "foxhunt/base/error.h"

namespace foxhunt::train {
namespace {

TrainingState some_state() {
  return {.epoch = 3,
          .windows = 12,
          .epochs = 4,
          .epoch_closed = false,
          .step = 123,
          .skipped_steps = 2,
          .bad_steps_in_a_row = 1,
          .epochs_without_gain = 2,
          .best_epoch = 1,
          .best_valid_loss = 1.0 / 3.0,
          .sums = {.loss = 0.1 + 0.2,
                   .weight = 1e300,
                   .norm = std::numeric_limits<double>::denorm_min(),
                   .norm_max = 2.0 / 7.0,
                   .lr = 1e-4,
                   .seconds = 0.7,
                   .rows = 9'007'199'254'740'993,
                   .good = 5,
                   .skipped = 1},
          .is_best = true,
          .metrics_bytes = 4096,
          .seconds = 12.3,
          .seed = 9'223'372'036'854'775'807,
          .threads = 2,
          .weights_sha256 = "ab"};
}

TEST(TrainingState, ComesBackBitForBit) {
  const TrainingState state = some_state();
  EXPECT_EQ(TrainingState::from_json(state.to_json()), state);
  const TrainingState fresh;  // no best loss yet: infinity, which JSON has not
  EXPECT_EQ(TrainingState::from_json(fresh.to_json()), fresh);
}

TEST(TrainingState, RefusesWhatIsNoState) {
  for (const char* text : {"", "{", "[]", "{\"epoch\": 1}", "{\"epoch\": 1, \"epoch\": 2}"})
    EXPECT_THROW(TrainingState::from_json(text), FormatError) << text;
}

}  // namespace
}  // namespace foxhunt::train
