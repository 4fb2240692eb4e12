#pragma once
// How a model is trained again and again while time goes on: the [walkforward] section.

#include <cstdint>

namespace foxhunt::train {

enum class WalkForwardKind { kRolling, kAnchored };
enum class WalkForwardUnit { kDays, kMinutes };

struct WalkForwardConfig {
  WalkForwardKind kind = WalkForwardKind::kRolling;
  WalkForwardUnit unit = WalkForwardUnit::kDays;
  std::int64_t train = 60;
  std::int64_t valid = 5;
  std::int64_t test = 5;
  std::int64_t step = 0;
  std::int64_t max_folds = 0;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key.choice("kind", c.kind,
               {{"rolling", WalkForwardKind::kRolling}, {"anchored", WalkForwardKind::kAnchored}},
               "rolling: training moves on with its length kept; anchored: it begins with the data "
               "and grows");
    key.choice("unit", c.unit,
               {{"days", WalkForwardUnit::kDays}, {"minutes", WalkForwardUnit::kMinutes}},
               "of the lengths: trading days that have rows, or minutes of the clock");
    key("train", c.train, 1, 100'000'000, "length of training, of the first fold if anchored");
    key("valid", c.valid, 1, 100'000'000, "length of validation, which follows it");
    key("test", c.test, 1, 100'000'000, "length of the test, which follows that");
    key("step", c.step, 0, 100'000'000,
        "from one fold to the next, at least test; 0: test, so that every row from the first test "
        "on is tested once");
    key("max_folds", c.max_folds, 0, 1'000'000,
        "at most so many folds, the first ones; 0: as many as the data holds");
  }
};

}  // namespace foxhunt::train
