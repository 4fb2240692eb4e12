#pragma once
// Lets a model begin as the best constant forecast, so that whatever it learns is on top of that.

#include "foxhunt/train/sequence_model.h"
#include "foxhunt/train/sequences.h"
#include "foxhunt/train/split.h"

namespace foxhunt::train {

/// Sets the parameters head.weight and head.bias of the model: the weights to zero, the bias to
/// what the training labels alone say: logarithms of the class shares (one row added to each
/// class), the mean, or the quantiles. Without it the first steps of every run unlearn a random
/// head, which a short series cannot spare.
void start_at_prior(SequenceModel& model, const SequenceSet& set, const Split& split);

}  // namespace foxhunt::train
