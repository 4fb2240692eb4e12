#pragma once
// The labelled rows of one part as the evaluation room wants them: flat, in the order of time.
// Torch-free.

#include <vector>

#include "foxhunt/evaluation/baselines/standard.h"
#include "foxhunt/evaluation/report/evaluate.h"
#include "foxhunt/evaluation/report/task.h"
#include "foxhunt/features/normalizer.h"
#include "foxhunt/model/head_config.h"
#include "foxhunt/train/dataset.h"

namespace foxhunt::train {

class PartRows {
 public:
  /// Copies the rows out of the dataset. Memory 4 F + about 40 bytes a row.
  PartRows(const Dataset& data, const features::Normalizer& normalizer, Part part);

  evaluation::BaselineRows view() const;  ///< lives as long as this
  evaluation::EvaluationRows evaluation_rows() const;
  double mean_outcome() const;  ///< 0 without rows
  /// What a driftless random walk says of smoothed labels (random_walk.h), as one more baseline:
  /// the floor beside every score.
  evaluation::Forecasts random_walk(const model::HeadConfig& head, double dead_zone) const;

 private:
  void take(const Sequence& sequence, std::size_t t, std::size_t horizon);

  std::size_t width_;
  std::vector<float> features_;    ///< [N, F] normalised
  std::vector<int> labels_;        ///< [N] class; empty for return labels
  std::vector<int> last_classes_;  ///< [N] persistence
  std::vector<double> outcomes_;   ///< [N] Labels::value
  std::vector<double>
      last_moves_;  ///< [N] outcome of the label that ended at this row; NaN without one
  std::vector<float> walk_mean_, walk_sd_;  ///< [N] of smoothed labels
  std::vector<UnixNanos> times_;
  std::vector<Date> sessions_;
};

/// What the head was asked for.
evaluation::Task task_of(const model::HeadConfig& head, const PartRows& train_rows);

/// How the configuration wants it scored.
evaluation::EvaluationOptions evaluation_options(const ExperimentConfig& config);

}  // namespace foxhunt::train
