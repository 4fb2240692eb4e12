#include "foxhunt/train/training_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/log.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/config/config.h"
#include "foxhunt/features/feature_library.h"
#include "foxhunt/nn/device_check.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/report/page.h"
#include "foxhunt/train/coverage.h"
#include "foxhunt/train/dataset.h"
#include "foxhunt/train/mamba2_trainer.h"
#include "foxhunt/train/memory/cpu_allocator.h"
#include "foxhunt/train/run_identity.h"
#include "foxhunt/train/train_report.h"

namespace foxhunt::train {
namespace {

/// What the weights were trained with stays, also where changed data was accepted.
features::Normalizer normalizer_of(const TrainingRun& what, const Dataset& data) {
  if (!what.checkpoint) return fit_normalizer(data.set, data.split, what.config.features.clip);
  const bundle::ModelContext before = read_context(*what.checkpoint);
  features::require_libraries(what.config.features.plugins, before.schema);
  before.normalizer.require_schema(data.set.schema);
  return before.normalizer;
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

/// What sharing the gradients cost, a step.
void log_exchange(const WindowTrainer& trainer, std::int64_t steps) {
  const ranks::GradientExchange* exchange = trainer.optimizer().exchange();
  if (exchange == nullptr || steps == 0) return;
  const auto milliseconds = [steps](double seconds) {
    return 1e3 * seconds / static_cast<double>(steps);
  };
  log::info(
      "exchange of gradients a step: {} sent in {} buckets, {:.2f} ms, {:.2f} ms of them not "
      "behind "
      "the backward pass",
      format_bytes(exchange->bytes_sent() / steps), exchange->buckets(),
      milliseconds(exchange->busy_seconds()), milliseconds(exchange->waited_seconds()));
}

}  // namespace

void prepare_process(const ExperimentConfig& config, const nn::DeviceSpec& device,
                     std::int64_t threads) {
  const std::vector<std::string> errors = config.errors();
  if (!errors.empty())
    throw ConfigError(fmt::format("[config] {}", fmt::join(errors, "\n[config] ")));
  use_counted_memory();
  nn::open_device(device);
  if (threads > 0) nn::set_torch_threads(static_cast<int>(threads));
}

TrainReport run_training(RunDir& run, const Together& together, const TrainingRun& what) {
  const ExperimentConfig& config = what.config;
  Dataset data = load_dataset(config, what.data);
  data.files = require_locked(config.data, std::move(data.files));
  if (together.leads()) {
    write_file_atomic(run.file("data.lock"), data_lock_json(data.files));
    write_file_atomic(run.file("coverage.json"), coverage_json(data));
  }
  together.require_same_data(data.files, data.set.schema);
  const features::Normalizer normalizer = normalizer_of(what, data);
  const model::HeadConfig head = config.hyper.to_head_config(
      static_cast<std::int64_t>(data.set.schema.columns.size()), config.label.kind);

  keep_freed_memory();  // of the steps, not of reading
  nn::Mamba2SSM model(config.hyper.to_model_config(), head, nn::at_device(what.device));
  model.use_kernels(config.hyper.train.kernels);
  model.recompute_blocks(config.hyper.train.recompute == Recompute::kBlocks);
  model.initialise(Rng(static_cast<std::uint64_t>(config.hyper.train.seed)).split_seed("weights"));
  bundle::ModelContext context{.product = config.data.product,
                               .features = config.features,
                               .schema = data.set.schema,
                               .normalizer = normalizer,
                               .label = config.label,
                               .config_sha256 = config::hash_of(config),
                               .book = config.book_settings()};
  Mamba2Hyperparameters hyper = config.hyper;
  if (what.threads > 0) hyper.train.threads = what.threads;
  if (!what.memory_budget.empty()) hyper.train.memory_budget = what.memory_budget;
  Mamba2Trainer trainer(
      model,
      {.set = data.set, .split = data.split, .normalizer = normalizer, .windows = config.windows},
      hyper, std::move(context), run, together.ranks());
  if (together.leads()) {
    trainer.keep_beside(
        {{"config.resolved.toml", read_file(run.file("config.resolved.toml"))},
         {"identity.json",
          identity_of(config::hash_of(config), data.files, nn::torch_version()).to_json()}});
  }
  if (what.checkpoint) trainer.restore(read_checkpoint(*what.checkpoint));
  log::info("Mamba-2 with {} parameters on {}, {} threads; {} windows, {} steps{}",
            model.performance_metrics().parameters, what.device.text(),
            trainer.windows().lanes().threads(), trainer.windows().windows(),
            trainer.windows().total_steps(),
            what.checkpoint ? fmt::format(", {} done", trainer.windows().steps()) : "");
  const std::int64_t steps_before = trainer.windows().steps();
  const FitReport fit =
      trainer.fit(together.leads() ? what.progress : ProgressMode::kOff, what.pause_after_epoch);
  log_exchange(trainer.windows(), trainer.windows().steps() - steps_before);
  TrainReport report = report_of(run, model, fit, trainer.seconds());
  const bool ended = fit.stopped != "interrupted" && fit.stopped != "paused";
  if (ended && together.leads()) write_file_atomic(run.file("result.json"), to_json(report) + "\n");
  if (together.leads()) report::write_page(run.path());
  if (fit.stopped == "interrupted") {
    throw InterruptedError(
        fmt::format("interrupted at step {}; saved in {}; go on with foxhunt resume {}", fit.steps,
                    run.path().string(), run.path().string()));
  }
  return report;
}

}  // namespace foxhunt::train
