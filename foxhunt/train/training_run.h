#pragma once
// What train() and resume() share: from a configuration to a trained model in a run folder.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/nn/device.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/train/dataset.h"
#include "foxhunt/train/mamba2_trainer.h"
#include "foxhunt/train/run_dir.h"
#include "foxhunt/train/together.h"
#include "foxhunt/train/train.h"

namespace foxhunt::train {

struct TrainingRun {
  ExperimentConfig config{};  ///< resolved
  nn::DeviceSpec device{};
  ProgressMode progress = ProgressMode::kAuto;
  std::int64_t pause_after_epoch = 0;
  std::int64_t threads = 0;                           ///< instead of train.threads; 0: those
  std::string memory_budget{};                        ///< instead of the configured; empty: that
  std::vector<std::string> data{};                    ///< instead of the configuration's files
  std::optional<std::filesystem::path> checkpoint{};  ///< to go on from
};

/// Opens the device and sets the process up for training on `threads` (0: all cores). Errors
/// ConfigError, DeviceError.
void prepare_process(const ExperimentConfig& config, const nn::DeviceSpec& device,
                     std::int64_t threads);

/// A training that stands at its first step, and nothing is written yet: whatever speaks against
/// it has spoken before there is a run folder, and an earlier run there is untouched. `together`
/// must outlive it.
class PreparedRun {
 public:
  /// Reads the data, holds them to the lock and to those of the other ranks, fits the normaliser,
  /// makes model and trainer. Errors  what train() throws.
  PreparedRun(const Together& together, TrainingRun what);

  /// Writes data.lock and coverage.json. Errors  IoError.
  void describe_data(const RunDir& run) const;
  /// Trains: checkpoints, metrics and, at the end, result.json go into `run`, written by rank 0.
  /// Errors  what train() throws.
  TrainReport train_into(RunDir& run);

 private:
  const Together& together_;
  TrainingRun what_;
  Dataset data_;
  features::Normalizer normalizer_;
  std::unique_ptr<nn::Mamba2SSM> model_;
  Mamba2Trainer trainer_;
};

}  // namespace foxhunt::train
