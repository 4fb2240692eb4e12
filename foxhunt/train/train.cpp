// The door's train(): puts an experiment together and hands it to the trainer.
#include "foxhunt/train/train.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/log.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/config/config.h"
#include "foxhunt/kernels/hardware_aware.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/nn/device_check.h"
#include "foxhunt/nn/model_sizes.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/train/dataset.h"
#include "foxhunt/train/environment.h"
#include "foxhunt/train/mamba2_trainer.h"

namespace foxhunt::train {
namespace {

/// --test: everything happens, in two small epochs. Written into the resolved configuration like
/// any other setting.
void shrink(ExperimentConfig& config) {
  config.hyper.train.epochs = 2;
  config.windows.length = std::min<std::int64_t>(config.windows.length, 64);
  config.windows.burn_in = std::min<std::int64_t>(config.windows.burn_in, 16);
  config.windows.stride = 0;
  config.hyper.model.n_layer = std::min<std::int64_t>(config.hyper.model.n_layer, 1);
  config.hyper.model.chunk_size = std::min<std::int64_t>(config.hyper.model.chunk_size, 32);
  config.evaluate.bootstrap_samples =
      std::min<std::int64_t>(config.evaluate.bootstrap_samples, 100);
}

/// What the configuration leaves to the machine; written into the resolved configuration, so that a
/// run can be repeated elsewhere.
void choose_for_machine(ExperimentConfig& config, const nn::DeviceSpec& device) {
  TrainConfig& train = config.hyper.train;
  if (device.kind != nn::DeviceKind::kCpu || train.kernels != nn::Kernels::kNative) return;
  const model::Mamba2Config& m = config.hyper.model;
  const kernels::ModelSizes sizes = nn::sizes_of(m);
  const kernels::Hardware hardware = kernels::read_hardware(this_machine(), {});
  if (m.chunk_size == 0) {
    const auto chunk = kernels::choose_chunk(hardware, sizes);
    config.hyper.model.chunk_size = chunk.value;
    log::debug("chunk {}: {}", chunk.value, chunk.reason);
  }
  if (train.lanes == 0) {
    const auto lanes =
        kernels::choose_lanes(hardware, sizes, train.batch_size, config.windows.length);
    train.lanes = lanes.value;
    log::debug("lanes {}: {}", lanes.value, lanes.reason);
  }
}

void describe_run(RunDir& run, const ExperimentConfig& config, const TrainOptions& options) {
  const std::string resolved = config::dump(config, /*comments=*/true);
  if (!options.config_text.empty()) write_file_atomic(run.file("config.toml"), options.config_text);
  write_file_atomic(run.file("config.resolved.toml"),
                    fmt::format("# sha256 {}\n{}", config::hash_of(config), resolved));
  write_file_atomic(run.file("env.json"),
                    environment_json(options.command_line, options.device, at::get_num_threads(),
                                     config.hyper.train.seed));
}

TrainReport report_of(const RunDir& run, const nn::Mamba2SSM& model, const FitReport& fit,
                      double seconds) {
  return {.run = run.path(),
          .parameters = model.performance_metrics().parameters,
          .epochs = fit.epochs,
          .steps = fit.steps,
          .skipped_steps = fit.skipped_steps,
          .best_epoch = fit.best_epoch,
          .best_valid_loss = fit.best_valid_loss,
          .seconds = seconds,
          .weights_sha256 = nn::weights_hash(model),
          .stopped = fit.stopped};
}

}  // namespace

TrainReport train(ExperimentConfig config, const TrainOptions& options) {
  if (options.test) shrink(config);
  const std::vector<std::string> errors = config.errors();
  if (!errors.empty())
    throw ConfigError(fmt::format("[config] {}", fmt::join(errors, "\n[config] ")));
  const nn::DeviceSpec device = nn::parse_device(options.device);
  nn::open_device(device);
  keep_freed_memory();
  if (config.hyper.train.threads > 0)
    nn::set_torch_threads(static_cast<int>(config.hyper.train.threads));

  RunDir run = RunDir::create(options.out, options.overwrite);
  const log::FileSink log_file(run.file("log.txt"));
  choose_for_machine(config, device);
  describe_run(run, config, options);
  const auto start = std::chrono::steady_clock::now();

  const Dataset data = load_dataset(config);
  write_file_atomic(run.file("data.lock"), data_lock_json(data.files));
  const features::Normalizer normalizer =
      fit_normalizer(data.set, data.split, config.features.clip);
  const model::HeadConfig head = config.hyper.to_head_config(
      static_cast<std::int64_t>(data.set.schema.columns.size()), config.label.kind);

  nn::Mamba2SSM model(config.hyper.to_model_config(), head, nn::at_device(device));
  model.use_kernels(config.hyper.train.kernels);
  model.initialise(Rng(static_cast<std::uint64_t>(config.hyper.train.seed)).split_seed("weights"));
  bundle::ModelContext context{.product = config.data.product,
                               .features = config.features,
                               .schema = data.set.schema,
                               .normalizer = normalizer,
                               .label = config.label,
                               .config_sha256 = config::hash_of(config)};
  Mamba2Trainer trainer(
      model,
      {.set = data.set, .split = data.split, .normalizer = normalizer, .windows = config.windows},
      config.hyper, std::move(context), run);
  log::info("Mamba-2 with {} parameters on {}, {} threads; {} windows, {} steps",
            model.performance_metrics().parameters, device.text(),
            trainer.windows().lanes().threads(), trainer.windows().windows(),
            trainer.windows().total_steps());
  const FitReport fit = trainer.fit(options.progress);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  TrainReport report = report_of(run, model, fit, seconds);
  if (fit.stopped == "interrupted") {
    throw InterruptedError(
        fmt::format("interrupted at step {}; saved in {}", fit.steps, run.path().string()));
  }
  return report;
}

}  // namespace foxhunt::train
