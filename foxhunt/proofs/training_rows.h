#pragma once
// The rows and labels that training makes of bars, as a source under proof: the same builder, the
// same pipeline, nothing in between.

#include <span>
#include <string>
#include <vector>

#include "foxhunt/bundle/label_config.h"
#include "foxhunt/features/feature_config.h"
#include "foxhunt/features/row_pipeline.h"
#include "foxhunt/market/record.h"
#include "foxhunt/proofs/source.h"
#include "foxhunt/train/experiment.h"
#include "foxhunt/train/sequences.h"

namespace foxhunt::proofs {

/// Series 0, "features": the columns of the pipeline and `persistence`, the class of the last move.
/// Series 1, "label": class and value of every valid label, known at the end of its interval.
std::vector<Series> series_of(features::Schema rows, const bundle::LabelConfig& label);
/// The entries of both.
std::vector<Entries> entries_of(std::span<const train::Sequence> sequences);

/// Of bars: the two series above.
class TrainingRows final : public Source {
 public:
  /// Errors  ConfigError: unknown product, bad feature or label config.
  TrainingRows(std::string product, features::FeatureConfig features, bundle::LabelConfig label);

  const std::vector<Series>& series() const override { return series_; }
  std::vector<Entries> run(std::span<const market::Bar> bars) const override;

  /// A new one of what makes the rows. Libraries stay loaded while the source lives, so that what
  /// they keep between streams is there for the next one, as in a process that trains or serves.
  features::RowPipeline pipeline() const { return fresh_; }
  /// The sequences behind them. Errors  DataError when no row comes out.
  train::SequenceSet sequences(std::span<const market::Bar> bars) const;

 private:
  std::string product_;
  features::FeatureConfig features_;
  bundle::LabelConfig label_;
  features::RowPipeline fresh_;  ///< takes no bar
  std::vector<Series> series_;
};

/// The bars of the experiment's files that its pipeline takes, in order; how many were left out.
struct UsableBars {
  std::vector<market::Bar> bars{};
  std::int64_t records = 0;
  std::int64_t left_out = 0;
};
/// Errors  what readers and selector throw.
UsableBars usable_bars(const train::ExperimentConfig& config);

}  // namespace foxhunt::proofs
