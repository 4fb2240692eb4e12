#pragma once
// A run as it was left: its configuration, its best model on a device, its data, found unchanged.

#include <filesystem>
#include <string>
#include <vector>

#include "foxhunt/train/checkpoint.h"
#include "foxhunt/train/dataset.h"
#include "foxhunt/train/run_dir.h"
#include "foxhunt/train/window_trainer.h"

namespace foxhunt::train {

struct OpenedRun {
  RunDir dir;
  ExperimentConfig config;
  LoadedModel best;
  Dataset data;

  /// With the model's own normaliser. Lives as long as this.
  TrainingData training_data() const {
    return {.set = data.set,
            .split = data.split,
            .normalizer = best.context.normalizer,
            .windows = config.windows};
  }
};

/// Opens the device and sets the run's threads, too. `data`: files instead of those of the run.
/// Errors  UsageError, DeviceError: the device; DataError: no run, no model, data gone or changed.
OpenedRun open_run(const std::filesystem::path& run, const std::string& device,
                   const std::vector<std::string>& data = {});

/// "train", "valid", "test". Errors  UsageError naming the choices.
Part part_named(const std::string& name);

}  // namespace foxhunt::train
