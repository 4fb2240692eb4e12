#pragma once
// The scan of least depth: in round d = 1, 2, 4 … each value takes in the one d places before it.

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "foxhunt/kernels/scan/scan.h"

namespace foxhunt::kernels {

/// Cost     work T log2 T, depth log2 T, log2 T passes over `out`; in place, allocates nothing.
///          Made for machines with a processor a value (SIMD lanes, a GPU's warp).
/// Numbers  exclusive[t] is inclusive[t - 1] bit for bit. Prefixes of neighbours are bracketed
///          differently: a product of decays in [0, 1] stays below each of its factors, but may
///          exceed the one before it by rounding.
/// Source   Hillis & Steele 1986, "Data parallel algorithms", CACM 29(12).
struct HillisSteele {
  template <ScanOperator Op>
  void run(const Op& op, std::span<const ScanValue<Op>> in, std::span<ScanValue<Op>> out,
           Inclusion inclusion, ScanValue<Op> start) const {
    copy_input(in, out);
    const std::size_t size = out.size();
    if (inclusion == Inclusion::kExclusive) {
      std::move_backward(out.begin(), out.end() - 1, out.end());
      out[0] = std::move(start);
    } else {
      out[0] = op.combine(start, out[0]);
    }
    for (std::size_t d = 1; d < size; d *= 2) {
      // From the end, so that out[t - d] is still the one of the round before: no second buffer.
      for (std::size_t t = size; t-- > d;) out[t] = op.combine(out[t - d], out[t]);
    }
  }
};

}  // namespace foxhunt::kernels
