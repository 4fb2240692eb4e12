// The door's evaluate(): the rows of one part, the answers of model and baselines, the report and
// its charts.
#include "foxhunt/evaluation/report/evaluate.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/bundle/answer.h"
#include "foxhunt/config/config.h"
#include "foxhunt/evaluation/report/scored_rows.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/report/page.h"
#include "foxhunt/train/charts.h"
#include "foxhunt/train/evaluation_rows.h"
#include "foxhunt/train/gru_baseline.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/opened_run.h"
#include "foxhunt/train/random_walk.h"
#include "foxhunt/train/train.h"
#include "foxhunt/train/trial.h"
#include "foxhunt/train/window_trainer.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;
namespace ev = foxhunt::evaluation;

/// Answers for the rows of a part, and where asked for the lines of all its rows, labelled or not.
class Answerer {
 public:
  Answerer(const Dataset& data, const features::Normalizer& normalizer, Part part)
      : data_(data), part_(part), filler_(data.set, data.split, normalizer, part) {}

  std::vector<double> operator()(SequenceModel& model, std::ostream* lines) const {
    std::vector<double> values;
    Batch batch;
    for (const Window& window : whole_sequences(data_.set.sequences, data_.split, part_)) {
      filler_.fill({&window, 1}, 0, batch);
      const at::Tensor outputs = model.answer(upload(batch, 0, 1, {}, model.device()).x)
                                     .to(at::Device(at::kCPU))
                                     .contiguous();
      take_rows(window, outputs.const_data_ptr<float>(), model.head(), values, lines);
    }
    return values;
  }

 private:
  void take_rows(const Window& window, const float* outputs, const model::HeadConfig& head,
                 std::vector<double>& values, std::ostream* lines) const {
    const Sequence& sequence = data_.set.sequences[static_cast<std::size_t>(window.sequence)];
    const std::vector<Part>& parts = data_.split.parts[static_cast<std::size_t>(window.sequence)];
    const auto K = static_cast<std::size_t>(head.n_outputs());
    for (std::size_t t = 0; t < static_cast<std::size_t>(window.length); ++t) {
      if (parts[t] != part_) continue;
      const std::vector<double> meaning = bundle::meaning_of({outputs + t * K, K}, head);
      if (sequence.labels.valid[t] != 0)
        values.insert(values.end(), meaning.begin(), meaning.end());
      if (lines == nullptr) continue;
      *lines << bundle::answer_line({.available_at = sequence.available_at[t],
                                     .bar_start = sequence.bar_start[t],
                                     .symbol = sequence.symbol,
                                     .close = sequence.close[t]},
                                    meaning, head)
             << '\n';
    }
  }

  const Dataset& data_;
  Part part_;
  BatchFiller filler_;
};

ev::Baselines standard_baselines(const model::HeadConfig& head, const ev::BaselineSplits& splits) {
  switch (head.kind) {
    case model::HeadKind::kClassification:
      return ev::classification_baselines(splits, static_cast<std::size_t>(head.n_classes));
    case model::HeadKind::kQuantiles:
      return ev::quantile_baselines(splits, head.quantiles);
    case model::HeadKind::kRegression:
    case model::HeadKind::kTokens:
      break;
  }
  return ev::regression_baselines(splits);
}

struct GruFit {
  ev::Forecasts forecasts;
  std::string note;
};

/// LibTorch computes in one thread. Between the small products of a recurrent step its threads wait
/// for each other without sleeping: beside any other work two of them are slower than one.
class OneTorchThread {
 public:
  OneTorchThread() { at::set_num_threads(1); }
  ~OneTorchThread() { at::set_num_threads(before_); }
  OneTorchThread(const OneTorchThread&) = delete;
  OneTorchThread& operator=(const OneTorchThread&) = delete;

 private:
  int before_ = at::get_num_threads();
};

/// The model's own training on a GRU with as many parameters. A baseline gets its own learning
/// rate: the best of three by the validation loss.
GruFit train_gru(const ExperimentConfig& config, const Dataset& data,
                 const features::Normalizer& normalizer, const nn::Mamba2SSM& model,
                 const Answerer& answer, ProgressMode progress) {
  const Rng rng = Rng(static_cast<std::uint64_t>(config.hyper.train.seed)).split("gru");
  const OneTorchThread one_thread;
  GruFit best;
  double best_loss = std::numeric_limits<double>::infinity();
  for (const double factor : {1.0, 3.0, 10.0}) {
    TrainConfig settings = config.hyper.train;
    settings.schedule.lr *= factor;
    const std::unique_ptr<SequenceModel> gru =
        make_gru(model.head_config(), model.performance_metrics().parameters, model.device(),
                 rng.split_seed("weights"));
    WindowTrainer trainer(
        *gru,
        {.set = data.set, .split = data.split, .normalizer = normalizer, .windows = config.windows},
        settings, rng);
    WindowTrainer::Hooks hooks;
    hooks.title = "gru";
    const FitReport fit = trainer.fit(hooks, progress);
    if (fit.stopped == "interrupted")
      throw InterruptedError("interrupted while the GRU baseline was trained");
    if (fit.best_valid_loss >= best_loss) continue;
    best_loss = fit.best_valid_loss;
    best.forecasts = {.name = "gru", .values = answer(*gru, nullptr)};
    best.note = fmt::format(
        "gru: learning rate {:.2g}, the best of three on the validation rows; loss {:.4f} in epoch "
        "{} of {}",
        settings.schedule.lr, fit.best_valid_loss, fit.best_epoch, fit.epochs);
  }
  return best;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

ev::EvaluationReport evaluate(const fs::path& run_path, const EvaluateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Part part = part_named(options.split);
  const OpenedRun opened = open_run(run_path, options.device, options.data);
  const RunDir& run = opened.dir;
  const ExperimentConfig& config = opened.config;
  const LoadedModel& loaded = opened.best;
  const Dataset& data = opened.data;
  const features::Normalizer& normalizer = loaded.context.normalizer;

  const model::HeadConfig& head = loaded.model->head_config();
  const Answerer answer(data, normalizer, part);
  Mamba2SequenceModel model(*loaded.model, config.hyper.train.a_min, config.hyper.train.a_max);
  std::ofstream lines;
  if (!options.predictions.empty()) {
    lines.open(options.predictions);
    if (!lines) throw IoError(fmt::format("{}: cannot be written", options.predictions.string()));
  }
  const ev::Forecasts forecasts{.name = "model",
                                .values = answer(model, lines.is_open() ? &lines : nullptr)};
  if (lines.is_open() && !lines.flush())
    throw IoError(fmt::format("{}: cannot be written", options.predictions.string()));

  const PartRows train_rows(data, normalizer, Part::kTrain);
  const PartRows valid_rows(data, normalizer, Part::kValid);
  const PartRows part_rows(data, normalizer, part);
  ev::Baselines baselines = standard_baselines(
      head, {.train = train_rows.view(), .valid = valid_rows.view(), .test = part_rows.view()});
  if (config.label.is_smoothed()) {
    const auto seed = static_cast<std::uint64_t>(config.hyper.train.seed);
    baselines.forecasts.push_back(part_rows.random_walk(head, config.label.dead_zone));
    baselines.notes.push_back(walk_floor_text(config.label, walk_floor(config.label, seed), seed));
  }
  if (options.baselines) {
    GruFit gru = train_gru(config, data, normalizer, *loaded.model, answer, options.progress);
    baselines.forecasts.push_back(std::move(gru.forecasts));
    baselines.notes.push_back(std::move(gru.note));
  }
  const ev::EvaluationRows rows = part_rows.evaluation_rows();
  const ev::Task task = task_of(head, train_rows);
  if (!options.scored.empty()) {
    write_file_atomic(options.scored, ev::to_json_lines({task, rows, forecasts, baselines}));
  }
  ev::EvaluationReport report =
      ev::evaluate(rows, task, forecasts, baselines, evaluation_options(config),
                   Rng(static_cast<std::uint64_t>(config.hyper.train.seed)).split("bootstrap"));
  report.trials.not_counted = options.uncounted;
  count_trial(report,
              {.data = data_set_of(config, data.files),
               .part = options.split,
               .run = fs::absolute(run_path).lexically_normal().string(),
               .weights_sha256 = nn::weights_hash(*loaded.model),
               .config_sha256 = config::hash_of(config),
               .seed = config.hyper.train.seed,
               .seconds = seconds_since(start)},
              options.ledger);
  write_file_atomic(run.file(fmt::format("evaluation-{}.json", options.split)),
                    ev::to_json(report) + "\n");
  write_charts(run, options.split, report);
  report::write_page(run.path());
  return report;
}

}  // namespace foxhunt::train
