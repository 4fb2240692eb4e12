#include "foxhunt/train/window_trainer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <map>

#include "foxhunt/base/error.h"
#include "foxhunt/base/log.h"
#include "foxhunt/train/memory/memory_error.h"
#include "foxhunt/train/part_loss.h"
#include "foxhunt/train/prior_start.h"

namespace foxhunt::train {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

std::int64_t steps_an_epoch(std::int64_t windows, std::int64_t batch) {
  return (windows + batch - 1) / batch;
}

/// Errors  FormatError naming the parameter that `from` lacks or has in another shape or type.
void copy_by_name(const NamedParameters& from, const NamedParameters& to) {
  const at::NoGradGuard no_grad;
  const std::map<std::string, at::Tensor> by_name(from.begin(), from.end());
  for (const auto& [name, parameter] : to) {
    const auto found = by_name.find(name);
    if (found == by_name.end())
      throw FormatError(fmt::format("[train] the checkpoint has no weight '{}'", name));
    if (found->second.sizes() != parameter.sizes() ||
        found->second.scalar_type() != parameter.scalar_type()) {
      throw FormatError(
          fmt::format("[train] weight '{}' of the checkpoint has another shape", name));
    }
    parameter.copy_(found->second);
  }
}

}  // namespace

WindowTrainer::WindowTrainer(SequenceModel& model, const TrainingData& data,
                             const TrainConfig& config, const Rng& rng, ranks::Ranks* ranks)
    : model_(model),
      data_(data),
      config_(config),
      team_(ranks),
      windows_(training_windows(data.windows, data.set.sequences, data.split)),
      sampler_(static_cast<std::int64_t>(windows_.size()), rng.split("sampler")),
      total_steps_(config.epochs * steps_an_epoch(sampler_.size(), config.batch_size)),
      schedule_(config.schedule, total_steps_),
      optimizer_(model.parameters(), config.optimizer),
      lanes_(model, optimizer_, config.lanes, config.batch_size, config.threads, team_),
      filler_(data.set, data.split, data.normalizer, Part::kTrain) {
  if (windows_.empty()) throw ConfigError("[train] the training part holds no window with a label");
  start_at_prior(model, data.set, data.split);
  if (ranks != nullptr) optimizer_.share(*ranks, lanes_.own(), lanes_.total());
  report_.best_valid_loss = std::numeric_limits<double>::infinity();
  if (config.class_weights && model.head().kind == model::HeadKind::kClassification) {
    class_weights_ = balanced_class_weights(data.set.sequences, data.split, Part::kTrain);
  }
}

const Batch& WindowTrainer::fill(std::span<const std::int64_t> picked) {
  std::vector<Window> windows;
  for (const std::int64_t index : picked)
    windows.push_back(windows_[static_cast<std::size_t>(index)]);
  if (team_.size() == 1) {
    filler_.fill(windows, 0, batch_);
    return batch_;
  }
  filler_.fill_labels(windows, labels_);
  const ranks::LaneRange own = lanes_.own_rows(labels_.B);
  filler_.fill(std::span(windows).subspan(static_cast<std::size_t>(own.begin),
                                          static_cast<std::size_t>(own.size())),
               labels_.T, batch_);
  return labels_;
}

at::Tensor WindowTrainer::run_lanes(std::int64_t rows, double divisor) {
  const std::int64_t first = lanes_.own_rows(rows).begin;
  const std::vector<at::Tensor> losses =
      lanes_.run_slices(rows, [&](SequenceModel& model, std::int64_t begin, std::int64_t end) {
        const std::int64_t micro = config_.micro_batch > 0 ? config_.micro_batch : end - begin;
        at::Tensor loss;
        for (std::int64_t from = begin; from < end; from += micro) {
          const DeviceBatch part = upload(batch_, from - first, std::min(micro, end - from),
                                          class_weights_, model.device());
          const LastRound last(from + micro >= end);
          const at::Tensor part_loss = accumulate(model, part, divisor, config_.precision);
          loss = loss.defined() ? loss + part_loss : part_loss;
        }
        return loss;
      });
  const at::Tensor norm = optimizer_.grad_norm();
  const at::Tensor loss = team_.sum_of_lanes(losses, lanes_.total(), lanes_.used(rows));
  return at::stack({loss.to(norm.device(), norm.scalar_type()), norm});
}

void WindowTrainer::run_step(std::span<const std::int64_t> picked) {
  const Batch& whole = fill(picked);
  const double divisor = weight_sum(whole, class_weights_);
  const double lr = schedule_.lr(step_);
  ++step_;

  optimizer_.zero_grad(lanes_.used(whole.B));
  const at::Tensor loss_and_norm = run_lanes(whole.B, divisor);
  const std::vector<double> host = read_(loss_and_norm);
  last_step_ = {.step = step_, .loss = host[0], .grad_norm = host[1], .lr = lr};
  if (!std::isfinite(host[0]) || !std::isfinite(host[1])) {
    ++sums_.skipped;
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
  optimizer_.clip(loss_and_norm[1]);
  optimizer_.step(lr);
  model_.after_step();
  sums_.loss += host[0] * divisor;
  sums_.weight += divisor;
  sums_.norm += host[1];
  sums_.norm_max = std::max(sums_.norm_max, host[1]);
  sums_.lr = lr;
  ++sums_.good;
  for (const float m : whole.mask) sums_.rows += m > 0 ? 1 : 0;
}

std::string WindowTrainer::end_of_training(std::int64_t pause_after_epoch) {
  if (report_.epochs == 0) return "";
  if (config_.patience > 0 && epochs_without_gain_ >= config_.patience) return "early stopping";
  if (report_.epochs >= config_.epochs) return "epochs done";
  if (team_.agree_to_stop()) return "interrupted";
  if (pause_after_epoch > 0 && report_.epochs >= pause_after_epoch) return "paused";
  return "";
}

void WindowTrainer::begin_epoch() {
  sampler_.start_epoch(report_.epochs);
  ++report_.epochs;
  sums_ = {};
  epoch_closed_ = false;
}

/// A step that memory was refused, or that lost a rank, leaves no trace: weights and optimiser are
/// those of the step before, since both change behind the last exchange only, and the windows come
/// again.
void WindowTrainer::step_or_undo() {
  const SamplerState before = sampler_.state();
  const std::int64_t step = step_;
  const auto undo = [&] {
    optimizer_.drop_gradients();
    step_ = step;
    sampler_.restore(before);
    step_undone_ = true;
  };
  step_undone_ = false;
  try {
    run_step(sampler_.next(config_.batch_size));
  } catch (const MemoryError&) {
    undo();
    throw;
  } catch (const ranks::LostRankError&) {
    undo();
    throw;
  }
}

bool WindowTrainer::run_epoch(const Hooks& hooks, ProgressMode mode) {
  Progress progress(mode,
                    fmt::format("{} epoch {}/{}", hooks.title, report_.epochs, config_.epochs),
                    "windows", sampler_.size());
  while (!sampler_.epoch_done()) {
    const auto start = steady_clock::now();
    step_or_undo();
    report_.steps = step_;
    sums_.seconds += duration<double>(steady_clock::now() - start).count();
    progress.update(
        sampler_.state().position,
        fmt::format("loss {:.4f}  best {:.4f}  {}", sums_.mean_loss(), report_.best_valid_loss,
                    hooks.memory_note ? hooks.memory_note() : format_bytes(resident_set().now)));
    if (hooks.step_done) hooks.step_done();
    if (team_.stopping()) return false;
  }
  return true;
}

void WindowTrainer::close_epoch(const Hooks& hooks) {
  const auto start = steady_clock::now();
  optimizer_.drop_gradients();  // validation needs the memory
  EpochReport done{
      .epoch = report_.epochs,
      .step = step_,
      .train_loss = sums_.mean_loss(),
      .valid_loss = mean_loss(Part::kValid),
      .lr = sums_.lr,
      .grad_norm_mean = sums_.good > 0 ? sums_.norm / static_cast<double>(sums_.good) : 0.0,
      .grad_norm_max = sums_.norm_max,
      .skipped_steps = sums_.skipped,
      .rows_per_second = static_cast<double>(sums_.rows) / std::max(sums_.seconds, 1e-9)};
  done.seconds = sums_.seconds + duration<double>(steady_clock::now() - start).count();
  done.improved = done.valid_loss < report_.best_valid_loss;
  epochs_without_gain_ = done.improved ? 0 : epochs_without_gain_ + 1;
  if (done.improved) {
    report_.best_valid_loss = done.valid_loss;
    report_.best_epoch = done.epoch;
    keep_best();
  }
  epoch_closed_ = true;
  if (hooks.epoch_done) hooks.epoch_done(done);
}

FitReport WindowTrainer::fit(const Hooks& hooks, ProgressMode mode,
                             std::int64_t pause_after_epoch) {
  for (;;) {
    if (epoch_closed_) {
      report_.stopped = end_of_training(pause_after_epoch);
      if (!report_.stopped.empty()) break;
      begin_epoch();
    }
    if (!run_epoch(hooks, mode)) {
      report_.stopped = "interrupted";
      break;
    }
    close_epoch(hooks);
  }
  const bool more_later = report_.stopped == "interrupted" || report_.stopped == "paused";
  if (best_.empty() && !more_later) {
    throw NotConvergedError("[train] no epoch ended with a finite validation loss");
  }
  if (more_later && hooks.leaving) hooks.leaving();
  restore_best();
  return report_;
}

TrainingState WindowTrainer::state() const {
  return {.epoch = sampler_.state().epoch,
          .windows = sampler_.state().position,
          .epochs = report_.epochs,
          .epoch_closed = epoch_closed_,
          .step = step_,
          .skipped_steps = report_.skipped_steps,
          .bad_steps_in_a_row = bad_steps_in_a_row_,
          .epochs_without_gain = epochs_without_gain_,
          .best_epoch = report_.best_epoch,
          .best_valid_loss = report_.best_valid_loss,
          .sums = sums_};
}

NamedParameters WindowTrainer::best_weights() {
  NamedParameters best;
  const NamedParameters parameters = model_.parameters();
  for (std::size_t i = 0; i < best_.size(); ++i) best.emplace_back(parameters[i].first, best_[i]);
  return best;
}

void WindowTrainer::restore(const TrainingState& state, const NamedParameters& weights,
                            const NamedParameters& best, const NamedParameters& moments) {
  sampler_.restore({.epoch = state.epoch, .position = state.windows});
  optimizer_.load_state(moments);
  best_.clear();
  if (!best.empty()) {
    copy_by_name(best, model_.parameters());
    keep_best();
  }
  copy_by_name(weights, model_.parameters());
  step_ = state.step;
  bad_steps_in_a_row_ = state.bad_steps_in_a_row;
  epochs_without_gain_ = state.epochs_without_gain;
  sums_ = state.sums;
  epoch_closed_ = state.epoch_closed;
  report_ = {.epochs = state.epochs,
             .steps = state.step,
             .skipped_steps = state.skipped_steps,
             .best_epoch = state.best_epoch,
             .best_valid_loss = state.best_valid_loss};
}

double WindowTrainer::mean_loss(Part part) {
  return part_loss([this](std::int64_t count, const ModelTask& task) { lanes_.each(count, task); },
                   data_, part, class_weights_, read_, team_);
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
