#pragma once
// Where a training stands: every number that the rest of it depends on, weights and moments apart.
// Torch-free.
//
// Together with the weights, the optimiser's moments and the best weights so far, this is all there
// is: nothing of the training loop draws from a random generator while it runs (the sampler's order
// follows from seed and epoch), so a run restored from it goes on bit for bit.

#include <cstdint>
#include <limits>
#include <string>

namespace foxhunt::train {

/// Sums over the epoch so far.
struct EpochSums {
  double loss = 0;
  double weight = 0;
  double norm = 0;
  double norm_max = 0;
  double lr = 0;       ///< of the last step
  double seconds = 0;  ///< spent on training, validation apart
  std::int64_t rows = 0;
  std::int64_t good = 0;
  std::int64_t skipped = 0;

  double mean_loss() const {
    return weight > 0 ? loss / weight : std::numeric_limits<double>::quiet_NaN();
  }
  friend bool operator==(const EpochSums&, const EpochSums&) = default;
};

/// state.json of a checkpoint.
struct TrainingState {
  std::int64_t epoch = 0;    ///< of the sampler, from 0
  std::int64_t windows = 0;  ///< of this epoch that were trained on
  std::int64_t epochs = 0;   ///< begun
  bool epoch_closed = true;  ///< the last one begun is validated and reported, or none is begun
  std::int64_t step = 0;     ///< optimiser steps, skipped ones included
  std::int64_t skipped_steps = 0;
  std::int64_t bad_steps_in_a_row = 0;
  std::int64_t epochs_without_gain = 0;
  std::int64_t best_epoch = 0;  ///< from 1; 0: none yet
  double best_valid_loss = std::numeric_limits<double>::infinity();
  EpochSums sums{};

  // What a checkpoint says beside.
  bool is_best = false;            ///< its weights are the best so far
  std::int64_t metrics_bytes = 0;  ///< length of metrics.jsonl
  double seconds = 0;              ///< the run took so far
  std::int64_t seed = 0;
  std::int64_t threads = 0;
  std::string weights_sha256{};

  std::string to_json() const;
  /// Doubles come back bit for bit. Errors  FormatError.
  static TrainingState from_json(const std::string& text);
  friend bool operator==(const TrainingState&, const TrainingState&) = default;
};

}  // namespace foxhunt::train
