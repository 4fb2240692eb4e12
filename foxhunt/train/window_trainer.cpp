#include "foxhunt/train/window_trainer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/base/log.h"
#include "foxhunt/train/part_loss.h"
#include "foxhunt/train/prior_start.h"

namespace foxhunt::train {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

std::int64_t steps_an_epoch(std::int64_t windows, std::int64_t batch) {
  return (windows + batch - 1) / batch;
}

}  // namespace

/// Sums over an epoch.
struct WindowTrainer::Sums {
  double loss = 0;
  double weight = 0;
  double norm = 0;
  double norm_max = 0;
  double lr = 0;
  std::int64_t rows = 0;
  std::int64_t good = 0;
  std::int64_t skipped = 0;

  double mean_loss() const {
    return weight > 0 ? loss / weight : std::numeric_limits<double>::quiet_NaN();
  }
};

WindowTrainer::WindowTrainer(SequenceModel& model, const TrainingData& data,
                             const TrainConfig& config, const Rng& rng)
    : model_(model),
      data_(data),
      config_(config),
      windows_(training_windows(data.windows, data.set.sequences, data.split)),
      sampler_(static_cast<std::int64_t>(windows_.size()), rng.split("sampler")),
      total_steps_(config.epochs * steps_an_epoch(sampler_.size(), config.batch_size)),
      schedule_(config.schedule, total_steps_),
      optimizer_(model.parameters(), config.optimizer),
      lanes_(model, optimizer_, config.lanes, config.batch_size, config.threads),
      filler_(data.set, data.split, data.normalizer, Part::kTrain) {
  if (windows_.empty()) throw ConfigError("[train] the training part holds no window with a label");
  start_at_prior(model, data.set, data.split);
  report_.best_valid_loss = std::numeric_limits<double>::infinity();
  if (config.class_weights && model.head().kind == model::HeadKind::kClassification) {
    class_weights_ = balanced_class_weights(data.set.sequences, data.split, Part::kTrain);
  }
}

at::Tensor WindowTrainer::run_lanes(double divisor) {
  return lanes_.sum_slices(
      batch_.B, [&](SequenceModel& model, std::int64_t begin, std::int64_t end) {
        const std::int64_t micro = config_.micro_batch > 0 ? config_.micro_batch : end - begin;
        at::Tensor loss;
        for (std::int64_t from = begin; from < end; from += micro) {
          const DeviceBatch part =
              upload(batch_, from, std::min(micro, end - from), class_weights_, model.device());
          const at::Tensor part_loss = accumulate(model, part, divisor, config_.precision);
          loss = loss.defined() ? loss + part_loss : part_loss;
        }
        return loss;
      });
}

void WindowTrainer::run_step(std::span<const std::int64_t> picked, Sums& sums) {
  std::vector<Window> windows;
  for (const std::int64_t index : picked)
    windows.push_back(windows_[static_cast<std::size_t>(index)]);
  filler_.fill(windows, 0, batch_);
  const double divisor = weight_sum(batch_, class_weights_);
  const double lr = schedule_.lr(step_);
  ++step_;

  optimizer_.zero_grad();
  const at::Tensor loss = run_lanes(divisor);
  const at::Tensor norm = optimizer_.grad_norm();
  const std::vector<double> host = read_(at::stack({loss.to(norm.scalar_type()), norm}));
  if (!std::isfinite(host[0]) || !std::isfinite(host[1])) {
    ++sums.skipped;
    ++report_.skipped_steps;
    ++bad_steps_in_a_row_;
    log::warn("step {}: loss {} and gradient norm {}: skipped", step_, host[0], host[1]);
    if (bad_steps_in_a_row_ >= config_.max_bad_steps) {
      throw NotConvergedError(fmt::format(
          "[train] {} steps in a row without a finite loss and gradient, at step {}; try a "
          "lower train.schedule.lr or a longer warm-up",
          bad_steps_in_a_row_, step_));
    }
    return;
  }
  bad_steps_in_a_row_ = 0;
  optimizer_.clip(norm);
  optimizer_.step(lr);
  model_.after_step();
  sums.loss += host[0] * divisor;
  sums.weight += divisor;
  sums.norm += host[1];
  sums.norm_max = std::max(sums.norm_max, host[1]);
  sums.lr = lr;
  ++sums.good;
  for (const float m : batch_.mask) sums.rows += m > 0 ? 1 : 0;
}

bool WindowTrainer::run_epoch(std::int64_t epoch, Sums& sums, const Hooks& hooks,
                              ProgressMode mode) {
  Progress progress(mode, fmt::format("{} epoch {}/{}", hooks.title, epoch + 1, config_.epochs),
                    "windows", sampler_.size());
  sampler_.start_epoch(epoch);
  while (!sampler_.epoch_done()) {
    run_step(sampler_.next(config_.batch_size), sums);
    progress.update(sampler_.state().position,
                    fmt::format("loss {:.4f}  best {:.4f}  {}", sums.mean_loss(),
                                report_.best_valid_loss, format_bytes(resident_set().now)));
    if (hooks.step_done) hooks.step_done();
    if (interrupted()) return false;
  }
  return true;
}

FitReport WindowTrainer::fit(const Hooks& hooks, ProgressMode mode) {
  report_.stopped = "epochs done";
  for (std::int64_t epoch = 0; epoch < config_.epochs; ++epoch) {
    const auto start = steady_clock::now();
    Sums sums;
    ++report_.epochs;
    const bool finished = run_epoch(epoch, sums, hooks, mode);
    report_.steps = step_;
    if (!finished) {
      report_.stopped = "interrupted";
      break;
    }
    const double training_seconds = duration<double>(steady_clock::now() - start).count();
    EpochReport done{
        .epoch = epoch + 1,
        .step = step_,
        .train_loss = sums.mean_loss(),
        .valid_loss = mean_loss(Part::kValid),
        .lr = sums.lr,
        .grad_norm_mean = sums.good > 0 ? sums.norm / static_cast<double>(sums.good) : 0.0,
        .grad_norm_max = sums.norm_max,
        .skipped_steps = sums.skipped,
        .rows_per_second = static_cast<double>(sums.rows) / std::max(training_seconds, 1e-9)};
    done.seconds = duration<double>(steady_clock::now() - start).count();
    done.improved = done.valid_loss < report_.best_valid_loss;
    epochs_without_gain_ = done.improved ? 0 : epochs_without_gain_ + 1;
    if (done.improved) {
      report_.best_valid_loss = done.valid_loss;
      report_.best_epoch = done.epoch;
      keep_best();
    }
    if (hooks.epoch_done) hooks.epoch_done(done);
    if (interrupted()) {
      report_.stopped = "interrupted";
      break;
    }
    if (config_.patience > 0 && epochs_without_gain_ >= config_.patience) {
      report_.stopped = "early stopping";
      break;
    }
  }
  if (best_.empty() && report_.stopped != "interrupted") {
    throw NotConvergedError("[train] no epoch ended with a finite validation loss");
  }
  restore_best();
  return report_;
}

double WindowTrainer::mean_loss(Part part) {
  return part_loss([this](std::int64_t count, const ModelTask& task) { lanes_.each(count, task); },
                   data_, part, class_weights_, read_);
}

void WindowTrainer::keep_best() {
  best_.clear();
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : model_.parameters()) best_.push_back(tensor.detach().clone());
}

void WindowTrainer::restore_best() {
  if (best_.empty()) return;
  const at::NoGradGuard no_grad;
  const NamedParameters parameters = model_.parameters();
  for (std::size_t i = 0; i < best_.size(); ++i) parameters[i].second.copy_(best_[i]);
}

}  // namespace foxhunt::train
