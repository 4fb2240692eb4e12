#pragma once
// What a training tells of itself while it runs and at its end. Torch-free.

#include <cstdint>
#include <string>

namespace foxhunt::train {

struct EpochReport {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t step = 0;   ///< steps so far
  double train_loss = 0;   ///< mean over the loss weights of the epoch
  double valid_loss = 0;
  double lr = 0;  ///< of the last step
  double grad_norm_mean = 0;
  double grad_norm_max = 0;
  std::int64_t skipped_steps = 0;  ///< of the epoch
  double rows_per_second = 0;      ///< training rows with a loss
  double seconds = 0;
  bool improved = false;  ///< the best validation loss so far
};

/// The newest step, as computed: not finite where it was skipped.
struct StepReport {
  std::int64_t step = 0;  ///< from 1
  double loss = 0;        ///< of the batch
  double grad_norm = 0;   ///< before clipping
  double lr = 0;
};

struct FitReport {
  std::int64_t epochs = 0;
  std::int64_t steps = 0;
  std::int64_t skipped_steps = 0;
  std::int64_t best_epoch = 0;
  double best_valid_loss = 0;
  std::string stopped{};  ///< "epochs done", "early stopping", "paused", "interrupted"
};

}  // namespace foxhunt::train
