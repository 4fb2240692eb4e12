#pragma once
// Proofs about any source: what is known at t does not change with what comes after t, nor with
// what came before its declared warm-up.
//
// All comparisons are bit for bit. None of them knows what a column computes.

#include <cstdint>
#include <span>

#include "foxhunt/market/record.h"
#include "foxhunt/proofs/source.h"
#include "foxhunt/proofs/verdict.h"

namespace foxhunt::proofs {

/// The bars that a proof runs over; all of them usable, in order. Lifetime  that of the memory.
struct Ground {
  std::span<const market::Bar> bars;
  std::int64_t points = 48;
  std::uint64_t seed = 1;
};

/// Behind each point other prices and sizes, nothing at all, and one further poison (poison.h), all
/// of them in turn: whatever was known at the point is there with the same bits, and nothing else
/// is. Cost  up to three runs over all bars a point.
Verdict prove_future_poisoning(const Source& source, const Ground& ground);

/// What comes of bars [a, b) is the beginning of what comes of [a, c). Cost  one run a point.
Verdict prove_prefix_invariance(const Source& source, const Ground& ground);

/// A stream that begins at a point agrees with the one that began with the data, from the declared
/// warm-up of each column on; and no entry lacks from the longest one on.
Verdict prove_batch_is_stream(const Source& source, const Ground& ground);

/// Bars older than a column's warm-up do not matter to it. Columns for which the oldest bar inside
/// of it never mattered either are named in the notes: their declaration is longer than needed.
Verdict prove_warm_up(const Source& source, const Ground& ground);

}  // namespace foxhunt::proofs
