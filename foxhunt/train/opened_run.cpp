#include "foxhunt/train/opened_run.h"

#include <fmt/format.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/features/feature_library.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/nn/device_check.h"

namespace foxhunt::train {

OpenedRun open_run(const std::filesystem::path& run, const std::string& device,
                   const std::vector<std::string>& data) {
  const nn::DeviceSpec spec = nn::parse_device(device);
  nn::open_device(spec);
  RunDir dir = RunDir::open(run);
  ExperimentConfig config;
  load_experiment(config, {dir.file("config.resolved.toml").string()}, {});
  if (config.hyper.train.threads > 0)
    nn::set_torch_threads(static_cast<int>(config.hyper.train.threads));
  LoadedModel best = load_best(dir.path(), nn::at_device(spec));
  features::require_libraries(config.features.plugins, best.context.schema);
  const std::vector<std::string> paths =
      data.empty() ? require_unchanged(parse_data_lock(read_file(dir.file("data.lock")))) : data;
  Dataset dataset = load_dataset(config, paths);
  return {std::move(dir), std::move(config), std::move(best), std::move(dataset)};
}

Part part_named(const std::string& name) {
  for (const Part part : {Part::kTrain, Part::kValid, Part::kTest}) {
    if (name == name_of(part)) return part;
  }
  throw UsageError(fmt::format("--split {}: choose train, valid or test", name));
}

}  // namespace foxhunt::train
