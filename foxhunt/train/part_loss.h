#pragma once
// The loss of a model on the rows of one part: what validation, early stopping and pruning go by.

#include <functional>

#include "foxhunt/train/window_trainer.h"

namespace foxhunt::train {

/// A task on one of several models with the same weights.
using ModelTask = std::function<void(SequenceModel& model, std::int64_t index)>;
/// Runs task(model, i) for every i in [0, count), in any order, on any threads.
using EachTask = std::function<void(std::int64_t count, const ModelTask& task)>;

/// Mean loss over the labelled rows of `part`: whole sequences, from a zero state, without
/// gradients. `read` brings the sum to the host, once. Errors  ConfigError: no labelled row.
double part_loss(SequenceModel& model, const TrainingData& data, Part part,
                 const ClassWeights& weights, const ScalarReader& read = read_scalars);

/// The same, the sequences shared out among the ranks of a team and by `each`; sums run in the
/// order of the sequences.
double part_loss(const EachTask& each, const TrainingData& data, Part part,
                 const ClassWeights& weights, const ScalarReader& read = read_scalars,
                 const Team& team = Team());

}  // namespace foxhunt::train
