#pragma once
// The scan as the definition writes it: the judge of the others, and the fastest where a value is
// wide or T small.

#include <cstddef>
#include <span>
#include <utility>

#include "foxhunt/kernels/scan/operator.h"

namespace foxhunt::kernels {

/// ((s * x0) * x1) * x2 …
///
/// Cost     work T, depth T (combines); each value is read and written once; allocates nothing.
/// Numbers  a product of decays in [0, 1] never grows from one prefix to the next, not even by
///          rounding. The bracketing of a stream: any cut into parts gives the same bits.
struct SequentialScan {
  template <ScanOperator Op>
  void run(const Op& op, std::span<const ScanValue<Op>> in, std::span<ScanValue<Op>> out,
           Inclusion inclusion, ScanValue<Op> start) const {
    if (inclusion == Inclusion::kExclusive) {
      ScanValue<Op> prefix = std::move(start);
      for (std::size_t t = 0; t < in.size(); ++t) {
        ScanValue<Op> next = op.combine(prefix, in[t]);  // before out[t], which may be in[t]
        out[t] = std::move(prefix);
        prefix = std::move(next);
      }
      return;
    }
    out[0] = op.combine(start, in[0]);
    for (std::size_t t = 1; t < in.size(); ++t) out[t] = op.combine(out[t - 1], in[t]);
  }
};

}  // namespace foxhunt::kernels
