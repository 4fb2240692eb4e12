#include "foxhunt/train/training_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
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
#include "foxhunt/train/memory/cpu_allocator.h"
#include "foxhunt/train/run_identity.h"
#include "foxhunt/train/train_report.h"

namespace foxhunt::train {
namespace {

Dataset checked_data(const TrainingRun& what, const Together& together) {
  Dataset data = load_dataset(what.config, what.data);
  data.files = require_locked(what.config.data, std::move(data.files));
  together.require_same_data(data.files, data.set.schema);
  return data;
}

/// What the weights were trained with stays, also where changed data was accepted.
features::Normalizer normalizer_of(const TrainingRun& what, const Dataset& data) {
  if (!what.checkpoint) return fit_normalizer(data.set, data.split, what.config.features.clip);
  const bundle::ModelContext before = read_context(*what.checkpoint);
  features::require_libraries(what.config.features.plugins, before.schema);
  before.normalizer.require_schema(data.set.schema);
  return before.normalizer;
}

std::unique_ptr<nn::Mamba2SSM> made_model(const TrainingRun& what, const Dataset& data) {
  const ExperimentConfig& config = what.config;
  const model::HeadConfig head = config.hyper.to_head_config(
      static_cast<std::int64_t>(data.set.schema.columns.size()), config.label.kind);
  keep_freed_memory();  // of the steps, not of reading
  auto model = std::make_unique<nn::Mamba2SSM>(config.hyper.to_model_config(), head,
                                               nn::at_device(what.device));
  model->use_kernels(config.hyper.train.kernels);
  model->recompute_blocks(config.hyper.train.recompute == Recompute::kBlocks);
  model->initialise(Rng(static_cast<std::uint64_t>(config.hyper.train.seed)).split_seed("weights"));
  return model;
}

Mamba2Hyperparameters hyper_of(const TrainingRun& what) {
  Mamba2Hyperparameters hyper = what.config.hyper;
  if (what.threads > 0) hyper.train.threads = what.threads;
  if (!what.memory_budget.empty()) hyper.train.memory_budget = what.memory_budget;
  return hyper;
}

bundle::ModelContext context_of(const TrainingRun& what, const Dataset& data,
                                const features::Normalizer& normalizer) {
  const ExperimentConfig& config = what.config;
  return {.product = config.data.product,
          .features = config.features,
          .schema = data.set.schema,
          .normalizer = normalizer,
          .label = config.label,
          .config_sha256 = config::hash_of(config),
          .book = config.book_settings()};
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

PreparedRun::PreparedRun(const Together& together, TrainingRun what)
    : together_(together),
      what_(std::move(what)),
      data_(checked_data(what_, together)),
      normalizer_(normalizer_of(what_, data_)),
      model_(made_model(what_, data_)),
      trainer_(*model_,
               {.set = data_.set,
                .split = data_.split,
                .normalizer = normalizer_,
                .windows = what_.config.windows},
               hyper_of(what_), context_of(what_, data_, normalizer_), together.ranks()) {}

void PreparedRun::describe_data(const RunDir& run) const {
  write_file_atomic(run.file("data.lock"), data_lock_json(data_.files));
  write_file_atomic(run.file("coverage.json"), coverage_json(data_));
}

TrainReport PreparedRun::train_into(RunDir& run) {
  trainer_.write_into(run);
  const bool leads = together_.leads();
  if (leads) {
    trainer_.keep_beside(
        {{"config.resolved.toml", read_file(run.file("config.resolved.toml"))},
         {"identity.json",
          identity_of(config::hash_of(what_.config), data_.files, nn::torch_version()).to_json()}});
  }
  if (what_.checkpoint) trainer_.restore(read_checkpoint(*what_.checkpoint));
  log::info("Mamba-2 with {} parameters on {}, {} threads; {} windows, {} steps{}",
            model_->performance_metrics().parameters, what_.device.text(),
            trainer_.windows().lanes().threads(), trainer_.windows().windows(),
            trainer_.windows().total_steps(),
            what_.checkpoint ? fmt::format(", {} done", trainer_.windows().steps()) : "");
  const std::int64_t steps_before = trainer_.windows().steps();
  const FitReport fit =
      trainer_.fit(leads ? what_.progress : ProgressMode::kOff, what_.pause_after_epoch);
  log_exchange(trainer_.windows(), trainer_.windows().steps() - steps_before);
  TrainReport report = report_of(run, *model_, fit, trainer_.seconds());
  const bool ended = fit.stopped != "interrupted" && fit.stopped != "paused";
  if (ended && leads) write_file_atomic(run.file("result.json"), to_json(report) + "\n");
  if (leads) report::write_page(run.path());
  if (fit.stopped == "interrupted") {
    throw InterruptedError(
        fmt::format("interrupted at step {}; saved in {}; go on with foxhunt resume {}", fit.steps,
                    run.path().string(), run.path().string()));
  }
  return report;
}

}  // namespace foxhunt::train
