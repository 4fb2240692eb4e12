#include "foxhunt/train/checkpoint.h"

#include <fmt/format.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/log.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/train/checkpoint_store.h"
#include "foxhunt/train/manifest.h"

namespace foxhunt::train {
namespace fs = std::filesystem;

namespace {

constexpr const char* kModel = "model.safetensors";
constexpr const char* kBest = "best.safetensors";
constexpr const char* kMoments = "optim.safetensors";
constexpr const char* kState = "state.json";

NamedParameters read_tensors(const fs::path& file) {
  const auto opened = model::SafetensorsFile::open(file);
  NamedParameters tensors;
  for (const model::TensorView& view : opened.tensors())
    tensors.emplace_back(view.name, nn::tensor_of(view, at::kCPU));
  return tensors;
}

bundle::ModelContext context_of(const fs::path& file) {
  return bundle::ModelContext::from_metadata(model::SafetensorsFile::open(file).metadata(),
                                             file.string());
}

/// The file with the best weights of a run, looked for where the newest complete checkpoint says.
fs::path best_file(const fs::path& run) {
  const CheckpointStore store(run, 1);
  const CheckpointStore::Newest newest = store.newest();
  std::string reasons;
  for (const auto& skipped : newest.skipped) {
    reasons += fmt::format("; {}: {}", skipped.path.filename().string(), skipped.damage);
    log::warn("{}: {}; not used", skipped.path.string(), skipped.damage);
  }
  if (!newest.entry)
    throw DataError(fmt::format("{}: the run has no complete checkpoint{}", run.string(), reasons));
  const fs::path& folder = newest.entry->path;
  const TrainingState state = read_state(folder);
  if (state.is_best || state.best_epoch == 0) return folder / kModel;
  if (const auto best = store.best()) {
    const std::string damage = damage_of(*best);
    if (!damage.empty()) {
      log::warn("{}: {}; the copy in {} is used", best->string(), damage, folder.string());
    } else if (read_state(*best).best_epoch == state.best_epoch) {
      return *best / kModel;
    }
  }
  return folder / kBest;
}

}  // namespace

void write_checkpoint(const fs::path& folder, const nn::Mamba2SSM& model,
                      const bundle::ModelContext& context, const Optimizer& optimizer,
                      const NamedParameters& best, const TrainingState& state) {
  nn::save_weights(model, folder / kModel, context.to_metadata());
  nn::save_tensors(folder / kMoments, optimizer.state(), {});
  if (!best.empty()) {
    // With the metadata of the model's file: either can be loaded alone.
    nn::save_tensors(folder / kBest, best,
                     model::SafetensorsFile::open(folder / kModel).metadata());
  }
  write_file_atomic(folder / kState, state.to_json());
}

TrainingState read_state(const fs::path& folder) {
  return TrainingState::from_json(read_file(folder / kState));
}

bundle::ModelContext read_context(const fs::path& folder) { return context_of(folder / kModel); }

Checkpoint read_checkpoint(const fs::path& folder) {
  Checkpoint checkpoint{.state = read_state(folder),
                        .weights = read_tensors(folder / kModel),
                        .moments = read_tensors(folder / kMoments)};
  if (checkpoint.state.is_best) {
    checkpoint.best = checkpoint.weights;
  } else if (checkpoint.state.best_epoch > 0) {
    checkpoint.best = read_tensors(folder / kBest);
  }
  return checkpoint;
}

LoadedModel load_best(const fs::path& run, at::Device device) {
  const fs::path file = best_file(run);
  return {nn::load_model(file, device), context_of(file), file.parent_path()};
}

}  // namespace foxhunt::train
