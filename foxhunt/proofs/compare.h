#pragma once
// Two outputs of one source held against each other, bit for bit.

#include <cstdint>
#include <optional>

#include "foxhunt/proofs/source.h"
#include "foxhunt/proofs/verdict.h"

namespace foxhunt::proofs {

/// Which entries have to agree. Bounds are inclusive.
struct Scope {
  UnixNanos known_until = UnixNanos::max();
  UnixNanos decided_from = UnixNanos::min();  ///< all columns, and presence, from here on
};

/// The first difference of `after` to `before` within the scope, in the order of time; counts every
/// value compared.
std::optional<Counterexample> first_difference(const Series& series, const Entries& before,
                                               const Entries& after, Scope scope,
                                               std::int64_t& compared);

bool same_bits(float a, float b);

}  // namespace foxhunt::proofs
