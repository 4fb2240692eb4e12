#pragma once
// The training loop: epochs over windows, accumulation, clipping, schedule, validation, early
// stopping, best weights.
//
// Trains any SequenceModel; Mamba2Trainer adds what is Mamba-2's and the run folder, the GRU
// baseline uses it as it is.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "foxhunt/base/progress.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/train/fit_report.h"
#include "foxhunt/train/lanes.h"
#include "foxhunt/train/sampler.h"
#include "foxhunt/train/training_state.h"
#include "foxhunt/train/training_step.h"

namespace foxhunt::train {

/// What a trainer reads. References: they must outlive it.
struct TrainingData {
  const SequenceSet& set;
  const Split& split;
  const features::Normalizer& normalizer;
  WindowConfig windows;
};

class WindowTrainer {
 public:
  /// The model begins as the best constant forecast of the training labels (prior_start.h).
  /// Errors  ConfigError: no window, or none to validate on.
  /// With `ranks` this is one of several processes that train together: all construct it alike and
  /// call fit() alike.
  WindowTrainer(SequenceModel& model, const TrainingData& data, const TrainConfig& config,
                const Rng& rng, ranks::Ranks* ranks = nullptr);

  struct Hooks {
    std::function<void(const EpochReport&)> epoch_done{};
    std::function<void()> step_done{};
    /// Once, where more is to come later (paused, interrupted), before the best weights come back.
    std::function<void()> leaving{};
    std::function<std::string()> memory_note{};  ///< for the progress line
    std::string title = "train";                 ///< in front of the progress line
  };

  /// To the end, until interrupted() (base/interrupt.h) says so, or until `pause_after_epoch` (from
  /// 1; 0: never) is done; then the model has its best weights behind it, unless no epoch was
  /// finished. Errors  NotConvergedError after max_bad_steps non-finite steps in a row, or without
  /// a finite validation loss.
  FitReport fit(const Hooks& hooks, ProgressMode progress, std::int64_t pause_after_epoch = 0);

  /// fit() ended with an error inside of a step, which left no trace: state() is that of the step
  /// before, and a checkpoint of it is whole.
  bool step_undone() const { return step_undone_; }
  /// Where the training stands; fields that only a checkpoint has are left as they are by default.
  TrainingState state() const;
  /// The best weights so far under the parameters' names; empty: no epoch was finished.
  NamedParameters best_weights();
  /// Goes on from `state` with the next fit(). `weights` and `best` are copied into the model and
  /// kept, `moments` go to the optimiser. Errors  FormatError: a tensor that is missing or
  /// misshapen, a place that is not one of this training's; the trainer is then of no use.
  void restore(const TrainingState& state, const NamedParameters& weights,
               const NamedParameters& best, const NamedParameters& moments);

  /// Mean loss over the labelled rows of a part: whole sequences, from a zero state, without
  /// gradients.
  double mean_loss(Part part);

  const Optimizer& optimizer() const { return optimizer_; }
  SamplerState sampler_state() const { return sampler_.state(); }
  std::int64_t steps() const { return step_; }
  std::int64_t total_steps() const { return total_steps_; }
  std::int64_t windows() const { return sampler_.size(); }
  const FitReport& report() const { return report_; }
  const StepReport& last_step() const { return last_step_; }
  const Lanes& lanes() const { return lanes_; }
  const Team& team() const { return team_; }
  /// For audits: how scalars come to the host.
  void set_scalar_reader(ScalarReader reader) { read_ = std::move(reader); }

 private:
  /// Why there is no further epoch now; "": there is.
  std::string end_of_training(std::int64_t pause_after_epoch);
  void begin_epoch();
  /// False when interrupted.
  bool run_epoch(const Hooks& hooks, ProgressMode progress);
  void close_epoch(const Hooks& hooks);
  /// Forward and backward pass of the batch; loss, divided by `divisor`, and gradient norm.
  at::Tensor run_lanes(std::int64_t rows, double divisor);
  /// Reads the windows that this rank works; the answer has the loss weights of all.
  const Batch& fill(std::span<const std::int64_t> picked);
  void run_step(std::span<const std::int64_t> picked);
  void step_or_undo();
  void keep_best();
  void restore_best();

  SequenceModel& model_;
  TrainingData data_;
  TrainConfig config_;
  Team team_;
  std::vector<Window> windows_;
  WindowSampler sampler_;
  std::int64_t total_steps_;
  Schedule schedule_;
  Optimizer optimizer_;
  Lanes lanes_;
  ClassWeights class_weights_;
  BatchFiller filler_;
  Batch batch_;   ///< the windows of this rank
  Batch labels_;  ///< of the whole batch, where others work some of it
  ScalarReader read_ = read_scalars;
  std::vector<at::Tensor> best_;
  std::int64_t step_ = 0;
  std::int64_t bad_steps_in_a_row_ = 0;
  std::int64_t epochs_without_gain_ = 0;
  EpochSums sums_;
  bool step_undone_ = false;
  bool epoch_closed_ = true;  ///< the last epoch begun is validated and reported
  FitReport report_;
  StepReport last_step_;
};

}  // namespace foxhunt::train
