#pragma once
// Where to look: bars at which code goes wrong first, and bars at random.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/market/record.h"
#include "foxhunt/proofs/source.h"

namespace foxhunt::proofs {

/// At most `count` places of `bars`, increasing, none of them the last bar. A fifth each, as far as
/// there are so many: last bars before a break of half an hour or another contract; first bars
/// behind it; bars before minutes that lack; the first entries of `entries` behind a break and the
/// bars just before them (the edges of a warm-up). The rest, and what those leave, at random behind
/// the first entry. Errors  DataError with fewer than
/// two bars or no entry.
std::vector<std::size_t> choose_points(std::span<const market::Bar> bars, const Entries& entries,
                                       std::int64_t count, Rng& rng);

}  // namespace foxhunt::proofs
