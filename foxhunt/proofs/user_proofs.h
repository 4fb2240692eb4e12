#pragma once
// What a user's library can do that foxhunt's own columns cannot: keep something from one stream to
// another, draw at random, answer what is no number. Run where a configuration names libraries,
// beside all other proofs.

#include "foxhunt/proofs/stream_proofs.h"
#include "foxhunt/proofs/training_rows.h"
#include "foxhunt/proofs/verdict.h"

namespace foxhunt::proofs {

/// The rows of a library loaded anew, which has seen no stream, and those made again, twice, after
/// the stream and one with another future went through: the same bits.
Verdict prove_rows_are_made_again(const TrainingRows& source, const Ground& ground);

/// Two streams in turns, a bar each, through one loaded library, the second with other prices and
/// sizes: the first has the bits that it has alone. As on a server with several sessions.
Verdict prove_streams_are_apart(const TrainingRows& source, const Ground& ground);

/// No column of a library says what is not finite; each that does is named with its first time.
Verdict prove_values_are_finite(const TrainingRows& source, const Ground& ground);

}  // namespace foxhunt::proofs
