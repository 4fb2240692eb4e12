#pragma once
// From an experiment's configuration to rows that can be trained on: files, sequences, split,
// normaliser.

#include <string>
#include <vector>

#include "foxhunt/features/normalizer.h"
#include "foxhunt/train/data_lock.h"
#include "foxhunt/train/experiment.h"
#include "foxhunt/train/sequences.h"
#include "foxhunt/train/split.h"

namespace foxhunt::train {

struct Dataset {
  std::vector<DataFile> files;
  SequenceSet set;
  Split split;
  std::int64_t horizon = 0;  ///< rows that a label looks ahead
};

/// Reads all files of `paths` (config.data.files where empty) once, and cuts nothing: `split` is
/// empty. Logs what was dropped.
/// Errors  what readers throw; DataError naming the first file without a bar.
Dataset load_rows(const ExperimentConfig& config, const std::vector<std::string>& paths = {});
/// Reads all files of `paths` (config.data.files where empty) once. Logs what was dropped.
/// Errors  what readers and split throw; DataError naming the first file without a bar.
Dataset load_dataset(const ExperimentConfig& config, const std::vector<std::string>& paths = {});

}  // namespace foxhunt::train
