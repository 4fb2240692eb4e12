#pragma once
// Which stretch of time each fold of a walk-forward trains, validates and tests on.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/base/time.h"
#include "foxhunt/train/sequences.h"
#include "foxhunt/train/split_config.h"
#include "foxhunt/train/walk_forward_config.h"

namespace foxhunt::experiments {

/// Half-open: training [train_begin, train_end), validation [train_end, valid_end), test
/// [valid_end, test_end). What is purged before each cut is the split's part (train/split.h).
struct Fold {
  UnixNanos train_begin = kNullTime;
  UnixNanos train_end = kNullTime;
  UnixNanos valid_end = kNullTime;
  UnixNanos test_end = kNullTime;

  /// Of a configuration: its cuts become those of the fold, its embargo stays.
  train::SplitConfig to_split(train::SplitConfig config) const;
};

struct FoldPlan {
  std::vector<Fold> folds{};
  std::int64_t length = 0;  ///< trading days or minutes in the data
  std::int64_t unused = 0;  ///< of them after the last test
};

/// Where trading days begin: the first row's time of every trade date, in order; then just after
/// the last row.
std::vector<UnixNanos> day_starts(std::span<const train::Sequence> sequences);

/// Folds as long as their whole test lies in the data. `days`: as day_starts() gives them.
/// Errors  ConfigError: not one fold fits, or a step shorter than the test (rows would count
/// twice).
FoldPlan plan_folds(train::WalkForwardConfig config, const std::vector<UnixNanos>& days);

}  // namespace foxhunt::experiments
