// The door's inspect() and prune(): a run's rows through its model, and the smaller run that comes
// of it.
#include "foxhunt/train/inspect.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/log.h"
#include "foxhunt/config/config.h"
#include "foxhunt/nn/prune_state.h"
#include "foxhunt/nn/state_usage_recorder.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/train/checkpoint_store.h"
#include "foxhunt/train/environment.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/opened_run.h"
#include "foxhunt/train/part_loss.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;

InspectReport measure(const OpenedRun& run, const fs::path& path, const InspectOptions& options) {
  const Part part = part_named(options.split);
  nn::Mamba2SSM& model = *run.best.model;
  nn::StateUsageRecorder recorder(
      model, Rng(static_cast<std::uint64_t>(run.config.hyper.train.seed)).split("inspect"));
  const BatchFiller filler(run.data.set, run.data.split, run.best.context.normalizer, part);
  Batch batch;
  for (Window window : whole_sequences(run.data.set.sequences, run.data.split, part)) {
    if (options.rows > 0) window.length = std::min(window.length, options.rows - recorder.rows());
    if (window.length == 0) break;
    filler.fill({&window, 1}, 0, batch);
    recorder.add(upload(batch, 0, 1, {}, model.device()).x);
  }
  if (recorder.rows() == 0) {
    throw DataError(
        fmt::format("{}: the part '{}' holds no labelled row", path.string(), options.split));
  }
  return {.run = path,
          .split = options.split,
          .config = model.config(),
          .cost = model.performance_metrics(),
          .usage = recorder.result()};
}

void check(const fs::path& run, const PruneOptions& options) {
  if (!(options.bound >= 0) || !std::isfinite(options.bound)) {
    throw UsageError(fmt::format("--prune {}: the loss may rise by 0 or more", options.bound));
  }
  if (part_named(options.measure.split) == Part::kTest)
    throw UsageError("--prune: the test rows judge what comes of it; rank by train or valid");
  RunDir::require_free(options.out, options.overwrite);
  std::error_code absent;
  if (fs::equivalent(run, options.out, absent))
    throw ConfigError(fmt::format("--out {}: is the run itself", options.out.string()));
}

[[noreturn]] void refuse(const fs::path& run, const PruneOptions& options, std::int64_t d_state,
                         double loss, const PruneSearch& search) {
  const PruneTrial* best = search.best();
  const std::string nearest = best == nullptr
                                  ? fmt::format("d_state is {}", d_state)
                                  : fmt::format("the least rise is {:.6g}, at d_state {} of {}",
                                                best->loss - loss, best->d_state, d_state);
  throw NotConvergedError(
      fmt::format("{}: no smaller state keeps the validation loss within {:g} of {:.6g}: {}",
                  run.string(), options.bound, loss, nearest));
}

TrainingState state_of(const OpenedRun& run, const PruneReport& report) {
  TrainingState state = read_state(run.best.checkpoint);
  state.best_valid_loss = report.loss;
  state.weights_sha256 = report.weights_sha256;
  state.is_best = true;
  state.metrics_bytes = 0;
  return state;
}

void write_run(const OpenedRun& from, nn::Mamba2SSM& model, const PruneReport& report,
               const PruneOptions& options) {
  ExperimentConfig config = from.config;
  config.hyper.model.d_state = report.d_state;
  bundle::ModelContext context = from.best.context;
  context.config_sha256 = config::hash_of(config);
  const RunDir run = RunDir::create(report.run, options.overwrite);
  write_file_atomic(run.file("config.resolved.toml"),
                    fmt::format("# sha256 {}\n# Not trained at this d_state but cut out of another "
                                "run: pruned.json\n{}",
                                context.config_sha256, config::dump(config, /*comments=*/true)));
  write_file_atomic(run.file("env.json"),
                    environment_json(options.command_line, options.measure.device,
                                     at::get_num_threads(), config.hyper.train.seed));
  write_file_atomic(run.file("data.lock"), read_file(from.dir.file("data.lock")));
  const TrainingState state = state_of(from, report);
  Mamba2SequenceModel sequence(model, config.hyper.train.a_min, config.hyper.train.a_max);
  const Optimizer fresh(sequence.parameters(), config.hyper.train.optimizer);
  CheckpointStore(run.path(), 1).save(state.step, /*is_best=*/true, [&](const fs::path& folder) {
    write_checkpoint(folder, model, context, fresh, /*best=*/{}, state);
  });
  write_file_atomic(run.file("pruned.json"), to_json(report) + "\n");
}

}  // namespace

InspectReport inspect(const fs::path& path, const InspectOptions& options) {
  part_named(options.split);
  return measure(open_run(path, options.device), path, options);
}

PruneReport prune(const fs::path& path, const PruneOptions& options) {
  check(path, options);
  const OpenedRun run = open_run(path, options.measure.device);
  const InspectReport used = measure(run, path, options.measure);
  const TrainConfig& train = run.config.hyper.train;
  ClassWeights weights;
  if (train.class_weights &&
      run.best.model->head_config().kind == model::HeadKind::kClassification) {
    weights = balanced_class_weights(run.data.set.sequences, run.data.split, Part::kTrain);
  }
  const auto loss_of = [&](nn::Mamba2SSM& model) {
    Mamba2SequenceModel sequence(model, train.a_min, train.a_max);
    return part_loss(sequence, run.training_data(), Part::kValid, weights);
  };
  const double before = loss_of(*run.best.model);
  const std::int64_t d_state = used.config.d_state;
  const PruneSearch search =
      smallest_state(d_state, before + options.bound, [&](std::int64_t size) {
        const double loss = loss_of(*nn::prune_state(*run.best.model, size, used.usage));
        log::info("d_state {:3}  validation loss {:.6f} ({:+.6f})", size, loss, loss - before);
        return loss;
      });
  if (!search.d_state) refuse(path, options, d_state, before, search);
  const auto pruned = nn::prune_state(*run.best.model, *search.d_state, used.usage);
  PruneReport report{.from = path,
                     .run = options.out,
                     .split = used.split,
                     .rows = used.usage.rows,
                     .bound = options.bound,
                     .d_state_before = d_state,
                     .d_state = *search.d_state,
                     .loss_before = before,
                     .loss = search.trials.back().loss,
                     .cost_before = used.cost,
                     .cost = pruned->performance_metrics(),
                     .kept = nn::most_important(used.usage, *search.d_state),
                     .trials = search.trials,
                     .weights_before_sha256 = nn::weights_hash(*run.best.model),
                     .weights_sha256 = nn::weights_hash(*pruned)};
  write_run(run, *pruned, report, options);
  return report;
}

}  // namespace foxhunt::train
