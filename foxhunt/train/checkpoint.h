#pragma once
// What a checkpoint folder holds: weights with their context, the optimiser's moments, where the
// training stood.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "foxhunt/bundle/model_context.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/train/optimizer.h"

namespace foxhunt::train {

/// Where a training stands, as state.json.
struct TrainingState {
  std::int64_t epoch = 0;           ///< begun, from 0
  std::int64_t step = 0;            ///< optimiser steps taken, skipped ones included
  std::int64_t batch_in_epoch = 0;  ///< next batch of the epoch's order
  std::int64_t skipped_steps = 0;
  double best_valid_loss = 0;
  std::int64_t best_epoch = 0;  ///< from 1; 0: none yet
  std::int64_t epochs_without_gain = 0;
  std::int64_t seed = 0;
  std::int64_t threads = 0;
  std::string weights_sha256;

  std::string to_json() const;
  /// Errors  FormatError.
  static TrainingState from_json(const std::string& text);
};

/// Writes model.safetensors, optim.safetensors and state.json into `folder`. Errors  IoError.
void write_checkpoint(const std::filesystem::path& folder, const nn::Mamba2SSM& model,
                      const bundle::ModelContext& context, const Optimizer& optimizer,
                      const TrainingState& state);

struct LoadedModel {
  std::shared_ptr<nn::Mamba2SSM> model;
  bundle::ModelContext context;
};
/// The best model of a run, else its last. Errors  DataError: no finished checkpoint; FormatError.
LoadedModel load_best(const std::filesystem::path& run, at::Device device);

}  // namespace foxhunt::train
