#pragma once
// The work-efficient scan: sums up a balanced tree, then hands prefixes down it.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>

#include "foxhunt/kernels/scan/scan.h"

namespace foxhunt::kernels {

/// The tree's nodes of level d cover [k 2d, (k+1) 2d) cut off at T, and keep their total at the
/// last place they cover: any T works, without padding to a power of two.
///
/// Cost     work 2 (T - 1), depth 2 log2 T, 2 log2 T passes of growing stride over `out`; in place,
///          allocates nothing.
/// Numbers  exclusive[t] is inclusive[t - 1] bit for bit. Rounding grows with log2 T additions
///          instead of T. A product of decays in [0, 1] stays below each of its factors, but may
///          exceed the prefix before it by rounding.
/// Source   Blelloch 1990, "Prefix sums and their applications", CMU-CS-90-190.
struct Blelloch {
  template <ScanOperator Op>
  void run(const Op& op, std::span<const ScanValue<Op>> in, std::span<ScanValue<Op>> out,
           Inclusion inclusion, ScanValue<Op> start) const {
    copy_input(in, out);
    const std::size_t size = out.size();
    const std::size_t top = std::bit_ceil(size) / 2;  // 0 for one value: no level
    for (std::size_t d = 1; d <= top; d *= 2) {
      for (std::size_t left = d - 1; left + 1 < size; left += 2 * d) {
        ScanValue<Op>& right = out[std::min(left + d, size - 1)];
        right = op.combine(out[left], right);
      }
    }
    ScanValue<Op> whole = op.combine(start, out[size - 1]);
    out[size - 1] = std::move(start);
    for (std::size_t d = top; d >= 1; d /= 2) {
      for (std::size_t left = d - 1; left + 1 < size; left += 2 * d) {
        ScanValue<Op>& right = out[std::min(left + d, size - 1)];
        ScanValue<Op> total = std::exchange(out[left], right);
        right = op.combine(right, total);
      }
    }
    if (inclusion == Inclusion::kInclusive) {
      std::move(out.begin() + 1, out.end(), out.begin());
      out[size - 1] = std::move(whole);
    }
  }
};

}  // namespace foxhunt::kernels
