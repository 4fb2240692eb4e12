#pragma once
// Trains one Mamba-2 into a run folder: the window trainer, checkpoints, metrics, health.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "foxhunt/base/progress.h"
#include "foxhunt/bundle/model_context.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/train/checkpoint.h"
#include "foxhunt/train/checkpoint_store.h"
#include "foxhunt/train/hyperparameters.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/memory/memory_watch.h"
#include "foxhunt/train/run_dir.h"
#include "foxhunt/train/window_trainer.h"

namespace foxhunt::train {

class Mamba2Trainer {
 public:
  /// Trains `model` in place, with `ranks` as one of several processes. References must outlive the
  /// trainer. Errors  ConfigError with everything that is wrong in the hyper-parameters, no window;
  /// DeviceError, ShapeError when model and data do not fit.
  Mamba2Trainer(nn::Mamba2SSM& model, const TrainingData& data, const Mamba2Hyperparameters& hyper,
                bundle::ModelContext context, ranks::Ranks* ranks = nullptr);
  /// The folder that rank 0 writes into, needed from here on; it must outlive the trainer.
  void write_into(RunDir& run);

  /// To the end, to early stopping, or to an interruption. Afterwards the model has its best
  /// weights, the run folder a checkpoint of them (`best`) and of the last state (`last`). Errors
  /// NotConvergedError; MemoryError where train.memory_budget did not suffice, behind a checkpoint
  /// of the last whole step; IoError: what was written before is intact.
  FitReport fit(ProgressMode progress, std::int64_t pause_after_epoch = 0);

  /// Goes on from a checkpoint with the next fit(); metrics.jsonl is cut back to its place.
  /// Errors  as WindowTrainer::restore.
  void restore(const Checkpoint& checkpoint);
  /// Files, by name, that every checkpoint gets as they are.
  void keep_beside(std::map<std::string, std::string> files) { beside_ = std::move(files); }
  /// Of the run so far, other processes included.
  double seconds() const;

  const WindowTrainer& windows() const { return trainer_; }

 private:
  void epoch_done(const EpochReport& report);
  void step_done();
  void log_step();
  /// Unless exactly this is saved already.
  void save(bool is_best);
  TrainingState state(bool is_best);

  nn::Mamba2SSM& model_;
  Mamba2Hyperparameters hyper_;
  bundle::ModelContext context_;
  RunDir* run_ = nullptr;
  std::optional<CheckpointStore> store_;
  Mamba2SequenceModel sequence_model_;
  TrainingData data_;
  WindowTrainer trainer_;
  MemoryWatch watch_;
  std::pair<std::int64_t, bool> saved_{-1, false};  ///< step, epoch closed
  std::map<std::string, std::string> beside_;
  double seconds_before_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace foxhunt::train
