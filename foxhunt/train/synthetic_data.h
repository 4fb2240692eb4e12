#pragma once
// Made-up rows of an experiment's shape: what audits and benchmarks train on, so that they need no
// files. Torch-free.

#include <cstdint>

#include "foxhunt/train/experiment.h"
#include "foxhunt/train/sequences.h"
#include "foxhunt/train/split.h"

namespace foxhunt::train {

struct SyntheticData {
  SequenceSet set;
  Split split;
  features::Normalizer normalizer;
  WindowConfig windows;
};

/// Columns of the experiment's feature pipeline, standard normal rows, labels that say nothing:
/// one sequence to train on that is cut into exactly `train_windows` whole windows, and one of
/// `valid_rows` rows to validate on. Every row is labelled; the same values for the same arguments.
/// Errors  ConfigError: an unknown product, a feature or window setting that is wrong.
SyntheticData synthetic_data(const ExperimentConfig& config, std::int64_t train_windows,
                             std::int64_t valid_rows);

/// F of the experiment's rows.
std::int64_t feature_width(const ExperimentConfig& config);

}  // namespace foxhunt::train
