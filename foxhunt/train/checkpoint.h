#pragma once
// What a checkpoint folder holds: weights with their context, the optimiser's moments, where the
// training stood.

#include <filesystem>
#include <memory>

#include "foxhunt/bundle/model_context.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/train/optimizer.h"
#include "foxhunt/train/training_state.h"

namespace foxhunt::train {

/// Writes model.safetensors, optim.safetensors and state.json into `folder`, and best.safetensors
/// where `best` is not empty. Errors  IoError.
void write_checkpoint(const std::filesystem::path& folder, const nn::Mamba2SSM& model,
                      const bundle::ModelContext& context, const Optimizer& optimizer,
                      const NamedParameters& best, const TrainingState& state);

/// A complete checkpoint in memory.
struct Checkpoint {
  TrainingState state{};
  NamedParameters weights{};
  NamedParameters best{};  ///< empty: no epoch was finished
  NamedParameters moments{};
};
/// Tensors on the CPU. Errors  FormatError, IoError.
Checkpoint read_checkpoint(const std::filesystem::path& folder);
/// Product, features, normaliser, label of its model. Errors  FormatError, IoError.
bundle::ModelContext read_context(const std::filesystem::path& folder);
/// Errors  FormatError, IoError.
TrainingState read_state(const std::filesystem::path& folder);

struct LoadedModel {
  std::shared_ptr<nn::Mamba2SSM> model;
  bundle::ModelContext context;
  std::filesystem::path checkpoint{};  ///< the folder it was read from
};
/// The best model of a run as its newest complete checkpoint knows it, else the last one. What is
/// damaged is named in a warning and never used. Errors  DataError: no complete checkpoint, with
/// the reason of each damaged one; FormatError.
LoadedModel load_best(const std::filesystem::path& run, at::Device device);

}  // namespace foxhunt::train
