#pragma once
// What train() and resume() share: from a run folder with its configuration to a trained model.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/nn/device.h"
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

/// Rank 0 writes data.lock, checkpoints, metrics and, at the end, result.json into `run`.
/// Errors  what train() throws.
TrainReport run_training(RunDir& run, const Together& together, const TrainingRun& what);

}  // namespace foxhunt::train
