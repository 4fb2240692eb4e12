#include "foxhunt/train/evaluation_rows.h"

#include <limits>
#include <numeric>

#include "foxhunt/bundle/answer.h"
#include "foxhunt/train/random_walk.h"

namespace foxhunt::train {

PartRows::PartRows(const Dataset& data, const features::Normalizer& normalizer, Part part)
    : width_(data.set.schema.columns.size()) {
  for (std::size_t s = 0; s < data.set.sequences.size(); ++s) {
    const Sequence& sequence = data.set.sequences[s];
    for (std::size_t t = 0; t < data.split.parts[s].size(); ++t) {
      if (data.split.parts[s][t] == part && sequence.labels.valid[t] != 0) {
        take(sequence, t, static_cast<std::size_t>(data.horizon));
      }
    }
  }
  normalizer.apply(features_, features_);
}

void PartRows::take(const Sequence& sequence, std::size_t t, std::size_t horizon) {
  const std::span<const float> row = sequence.row(static_cast<std::int64_t>(t));
  features_.insert(features_.end(), row.begin(), row.end());
  labels_.push_back(sequence.labels.classes[t]);
  last_classes_.push_back(sequence.labels.persistence[t]);
  outcomes_.push_back(static_cast<double>(sequence.labels.value[t]));
  // The label that began h bars ago has just come true: the newest outcome that is known at this
  // row.
  const bool known = t >= horizon && sequence.labels.valid[t - horizon] != 0;
  last_moves_.push_back(known ? static_cast<double>(sequence.labels.value[t - horizon])
                              : std::numeric_limits<double>::quiet_NaN());
  if (!sequence.labels.walk_mean.empty()) {
    walk_mean_.push_back(sequence.labels.walk_mean[t]);
    walk_sd_.push_back(sequence.labels.walk_sd[t]);
  }
  times_.push_back(sequence.available_at[t]);
  sessions_.push_back(sequence.trade_date);
}

evaluation::BaselineRows PartRows::view() const {
  return {.features = {.values = features_, .cols = width_},
          .labels = labels_,
          .last_classes = last_classes_,
          .outcomes = outcomes_,
          .last_moves = last_moves_};
}

evaluation::EvaluationRows PartRows::evaluation_rows() const {
  return {.times = times_,
          .sessions = sessions_,
          .outcomes = outcomes_,
          .labels = labels_,
          .hours = {}};
}

evaluation::Forecasts PartRows::random_walk(const model::HeadConfig& head, double dead_zone) const {
  evaluation::Forecasts forecasts{.name = "random-walk", .values = {}};
  for (std::size_t i = 0; i < walk_mean_.size(); ++i) {
    const auto mean = static_cast<double>(walk_mean_[i]);
    const auto sd = static_cast<double>(walk_sd_[i]);
    switch (head.kind) {
      case model::HeadKind::kClassification: {
        const WalkForecast walk = walk_forecast(mean, sd, dead_zone);
        forecasts.values.insert(forecasts.values.end(), {walk.down, walk.flat, walk.up});
        break;
      }
      case model::HeadKind::kQuantiles:
        for (const double q : head.quantiles)
          forecasts.values.push_back(mean + sd * normal_quantile(q));
        break;
      case model::HeadKind::kRegression:
      case model::HeadKind::kTokens:
        forecasts.values.push_back(mean);
        break;
    }
  }
  return forecasts;
}

double PartRows::mean_outcome() const {
  if (outcomes_.empty()) return 0.0;
  return std::accumulate(outcomes_.begin(), outcomes_.end(), 0.0) /
         static_cast<double>(outcomes_.size());
}

evaluation::Task task_of(const model::HeadConfig& head, const PartRows& train_rows) {
  switch (head.kind) {
    case model::HeadKind::kClassification: {
      evaluation::ClassificationTask task;
      for (std::int64_t k = 0; k < head.n_classes; ++k) {
        task.class_names.resize(static_cast<std::size_t>(head.n_classes));
        task.class_names[static_cast<std::size_t>(k)] = bundle::class_name(k);
      }
      task.down = kDown;
      task.up = kUp;
      return task;
    }
    case model::HeadKind::kQuantiles:
      return evaluation::QuantileTask{.levels = head.quantiles};
    case model::HeadKind::kRegression:
    case model::HeadKind::kTokens:
      break;
  }
  return evaluation::RegressionTask{.train_mean = train_rows.mean_outcome()};
}

evaluation::EvaluationOptions evaluation_options(const ExperimentConfig& config) {
  evaluation::EvaluationOptions options{
      .resamples = static_cast<std::size_t>(config.evaluate.bootstrap_samples),
      .level = config.evaluate.level};
  if (config.evaluate.bootstrap_block > 0) {
    options.blocks =
        evaluation::FixedBlocks{.rows = static_cast<std::size_t>(config.evaluate.bootstrap_block)};
  } else {
    options.blocks =
        evaluation::AutomaticBlocks{.horizon_rows = static_cast<std::size_t>(config.label.horizon)};
  }
  return options;
}

}  // namespace foxhunt::train
