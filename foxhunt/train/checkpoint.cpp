#include "foxhunt/train/checkpoint.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/train/checkpoint_store.h"

namespace foxhunt::train {
namespace fs = std::filesystem;

std::string TrainingState::to_json() const {
  const nlohmann::ordered_json out{{"epoch", epoch},
                                   {"step", step},
                                   {"batch_in_epoch", batch_in_epoch},
                                   {"skipped_steps", skipped_steps},
                                   {"best_valid_loss", best_valid_loss},
                                   {"best_epoch", best_epoch},
                                   {"epochs_without_gain", epochs_without_gain},
                                   {"seed", seed},
                                   {"threads", threads},
                                   {"weights_sha256", weights_sha256}};
  return out.dump(2) + "\n";
}

TrainingState TrainingState::from_json(const std::string& text) {
  try {
    const auto in = nlohmann::json::parse(text);
    return {.epoch = in.at("epoch"),
            .step = in.at("step"),
            .batch_in_epoch = in.at("batch_in_epoch"),
            .skipped_steps = in.at("skipped_steps"),
            .best_valid_loss =
                in.at("best_valid_loss").is_null() ? 0.0 : in.at("best_valid_loss").get<double>(),
            .best_epoch = in.at("best_epoch"),
            .epochs_without_gain = in.at("epochs_without_gain"),
            .seed = in.at("seed"),
            .threads = in.at("threads"),
            .weights_sha256 = in.at("weights_sha256")};
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(fmt::format("state.json: {}", error.what()));
  }
}

void write_checkpoint(const fs::path& folder, const nn::Mamba2SSM& model,
                      const bundle::ModelContext& context, const Optimizer& optimizer,
                      const TrainingState& state) {
  nn::save_weights(model, folder / "model.safetensors", context.to_metadata());
  nn::save_tensors(folder / "optim.safetensors", optimizer.state(), {});
  write_file_atomic(folder / "state.json", state.to_json());
}

LoadedModel load_best(const fs::path& run, at::Device device) {
  const CheckpointStore store(run, 1);
  auto folder = store.best();
  if (!folder) folder = store.last();
  if (!folder) throw DataError(fmt::format("{}: the run has no finished checkpoint", run.string()));
  const fs::path file = *folder / "model.safetensors";
  bundle::ModelContext context = bundle::ModelContext::from_metadata(
      model::SafetensorsFile::open(file).metadata(), file.string());
  return {nn::load_model(file, device), std::move(context)};
}

}  // namespace foxhunt::train
