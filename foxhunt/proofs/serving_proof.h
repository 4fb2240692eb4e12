#pragma once
// The rows of training against a stream as it is served: bar by bar, cut off and restored.

#include "foxhunt/features/feature_config.h"
#include "foxhunt/proofs/stream_proofs.h"
#include "foxhunt/proofs/training_rows.h"

namespace foxhunt::proofs {

/// Pushes every bar into a pipeline of its own, which is saved, thrown away and restored at each
/// point: the same rows as training made, bit for bit.
Verdict prove_training_is_serving(const TrainingRows& source, const Ground& ground);

}  // namespace foxhunt::proofs
