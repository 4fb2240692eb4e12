#include "foxhunt/train/mamba2_trainer.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/log.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/report/page.h"
#include "foxhunt/train/memory/byte_size.h"
#include "foxhunt/train/memory/estimate.h"
#include "foxhunt/train/memory/memory_error.h"

namespace foxhunt::train {
namespace {

/// JSON has no NaN: what is not finite becomes null.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json number(std::optional<std::int64_t> value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

/// What a run takes that no allocator of tensors sees.
std::int64_t beside_tensors(const Mamba2Hyperparameters& hyper, const TrainingData& data,
                            bool cuda) {
  ExperimentConfig config;
  config.hyper = hyper;
  config.windows = data.windows;
  DataFacts facts;
  for (const Sequence& sequence : data.set.sequences)
    facts.longest = std::max(facts.longest, sequence.length());
  return bytes_beside_tensors(config, step_plan(config, facts, cuda, this_machine().cores), facts,
                              static_cast<std::int64_t>(data.set.schema.columns.size()));
}

const Mamba2Hyperparameters& checked(const Mamba2Hyperparameters& hyper) {
  hyper.validate();
  return hyper;
}

}  // namespace

Mamba2Trainer::Mamba2Trainer(nn::Mamba2SSM& model, const TrainingData& data,
                             const Mamba2Hyperparameters& hyper, bundle::ModelContext context,
                             ranks::Ranks* ranks)
    : model_(model),
      hyper_(checked(hyper)),
      context_(std::move(context)),
      sequence_model_(model, hyper.train.a_min, hyper.train.a_max),
      data_(data),
      trainer_(sequence_model_, data, hyper.train,
               Rng(static_cast<std::uint64_t>(hyper.train.seed)), ranks),
      watch_(model.device().is_cuda() ? model.device().index() : -1,
             parse_byte_size(hyper.train.memory_budget),
             beside_tensors(hyper, data, model.device().is_cuda())) {}

void Mamba2Trainer::write_into(RunDir& run) {
  run_ = &run;
  store_.emplace(run.path(), hyper_.train.keep_checkpoints);
}

FitReport Mamba2Trainer::fit(ProgressMode progress, std::int64_t pause_after_epoch) {
  WindowTrainer::Hooks hooks;
  hooks.epoch_done = [this](const EpochReport& report) { epoch_done(report); };
  hooks.step_done = [this] { step_done(); };
  hooks.leaving = [this] { save(/*is_best=*/false); };
  hooks.memory_note = [this] { return watch_.seen().text(); };
  try {
    return trainer_.fit(hooks, progress, pause_after_epoch);
  } catch (const MemoryError& error) {
    watch_.make_room();
    save(/*is_best=*/false);
    throw MemoryError(fmt::format("{}; step {} is saved in {}", error.what(), trainer_.steps(),
                                  run_->path().string()));
  } catch (const ranks::LostRankError& error) {
    // Whatever took the other rank (its memory, its host): this one still has the step before.
    if (!trainer_.step_undone() || !trainer_.team().leads()) throw;
    save(/*is_best=*/false);
    throw ranks::LostRankError(fmt::format("{}; step {} is saved", error.what(), trainer_.steps()));
  }
}

void Mamba2Trainer::restore(const Checkpoint& checkpoint) {
  const TrainingState& state = checkpoint.state;
  trainer_.restore(state, checkpoint.weights, checkpoint.best, checkpoint.moments);
  if (trainer_.team().leads() && !run_->cut_metrics(state.metrics_bytes)) {
    log::warn("{}: is shorter than at step {}: lines of earlier epochs are lost",
              run_->file("metrics.jsonl").string(), state.step);
  }
  saved_ = {state.step, state.epoch_closed};
  seconds_before_ = state.seconds;
}

double Mamba2Trainer::seconds() const {
  return seconds_before_ +
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Mamba2Trainer::epoch_done(const EpochReport& report) {
  const Team& team = trainer_.team();
  if (team.size() > 1) team.require_same_weights(nn::weights_hash(model_));
  if (!team.leads()) return;
  const std::vector<Window> whole = whole_sequences(data_.set.sequences, data_.split, Part::kValid);
  Batch batch;
  BatchFiller(data_.set, data_.split, data_.normalizer, Part::kValid)
      .fill({whole.data(), 1}, 0, batch);
  const Health health = examine(model_, upload(batch, 0, 1, {}, model_.device()).x);
  const MemoryUse memory = watch_.look();
  const nlohmann::ordered_json line{
      {"epoch", report.epoch},
      {"step", report.step},
      {"train_loss", number(report.train_loss)},
      {"valid_loss", number(report.valid_loss)},
      {"improved", report.improved},
      {"lr", report.lr},
      {"grad_norm_mean", number(report.grad_norm_mean)},
      {"grad_norm_max", number(report.grad_norm_max)},
      {"skipped_steps", report.skipped_steps},
      {"dt_at_limit_share", number(health.dt_at_limit_share)},
      {"largest_state", number(health.largest_state)},
      {"parameter_norm", number(health.parameter_norm)},
      {"a_min", number(health.a_min)},
      {"a_max", number(health.a_max)},
      {"rows_per_second", report.rows_per_second},
      {"resident_bytes", memory.resident},
      {"resident_peak_bytes", memory.resident_peak},
      {"allocator_peak_bytes", number(memory.allocator_peak)},
      {"device_bytes", number(memory.device)},
      {"device_peak_bytes", number(memory.device_peak)},
      {"device_allocator_peak_bytes", number(memory.device_allocator_peak)},
      {"seconds", report.seconds}};
  run_->append_metrics(line.dump());
  report::write_events(run_->path());
  log::info(
      "epoch {:>3}/{}  train {:.4f}  valid {:.4f}{}  grad {:.2f}  dt at limit {:.1f} %  {:.0f} "
      "rows/s  {}",
      report.epoch, hyper_.train.epochs, report.train_loss, report.valid_loss,
      report.improved ? " *" : "  ", report.grad_norm_mean, 100 * health.dt_at_limit_share,
      report.rows_per_second, format_duration(report.seconds));
  save(report.improved);
}

void Mamba2Trainer::step_done() {
  log_step();  // before a checkpoint, which remembers where the log ends
  watch_.keep_budget();
  const std::int64_t every = hyper_.train.checkpoint_every;
  if (every > 0 && trainer_.steps() % every == 0) save(/*is_best=*/false);
}

void Mamba2Trainer::log_step() {
  if (!trainer_.team().leads()) return;
  const StepReport& step = trainer_.last_step();
  if (hyper_.train.log_every <= 0 || step.step % hyper_.train.log_every != 0) return;
  const nlohmann::ordered_json line{{"step", step.step},
                                    {"loss", number(step.loss)},
                                    {"grad_norm", number(step.grad_norm)},
                                    {"lr", step.lr}};
  run_->append_metrics(line.dump());
}

TrainingState Mamba2Trainer::state(bool is_best) {
  TrainingState state = trainer_.state();
  state.is_best = is_best;
  state.metrics_bytes = run_->sync_metrics();
  state.seconds = seconds();
  state.seed = hyper_.train.seed;
  const Lanes& lanes = trainer_.lanes();
  state.threads = lanes.size() > 1 ? lanes.threads() : at::get_num_threads();
  state.weights_sha256 = nn::weights_hash(model_);
  return state;
}

void Mamba2Trainer::save(bool is_best) {
  if (!trainer_.team().leads()) return;
  const TrainingState now = state(is_best);
  if (saved_ == std::pair(now.step, now.epoch_closed)) return;
  if (watch_.budget() > 0) watch_.make_room();
  try {
    store_->save(now.step, is_best, [this, &now](const std::filesystem::path& folder) {
      write_checkpoint(folder, model_, context_, trainer_.optimizer(),
                       now.is_best ? NamedParameters{} : trainer_.best_weights(), now);
      for (const auto& [name, text] : beside_) write_file_atomic(folder / name, text);
    });
  } catch (const IoError& error) {
    throw IoError(
        fmt::format("{}; what was saved before is intact: once that is settled, go on with "
                    "foxhunt resume {}",
                    error.what(), run_->path().string()));
  }
  saved_ = {now.step, now.epoch_closed};
}

}  // namespace foxhunt::train
