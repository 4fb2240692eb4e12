#pragma once
// The loss of a model on the rows of one part: what validation, early stopping and pruning go by.

#include "foxhunt/train/window_trainer.h"

namespace foxhunt::train {

/// Mean loss over the labelled rows of `part`: whole sequences, from a zero state, without
/// gradients. `read` brings the sum to the host, once. Errors  ConfigError: no labelled row.
double part_loss(SequenceModel& model, const TrainingData& data, Part part,
                 const ClassWeights& weights, const ScalarReader& read = read_scalars);

}  // namespace foxhunt::train
