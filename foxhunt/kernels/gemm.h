#pragma once
// Small matrix product with a freely strided left side: the one product that projections, their
// gradients and the chunked state space are made of.
//
// Plain data only: files compiled with -mavx512f include this one.

#include <stdint.h>

namespace foxhunt::kernels {

/// What is known to be zero, so that half of the work can be left out. Rows and columns count
/// from 0.
enum class Triangle {
  kNone,
  kLower,     ///< a(i, k) = 0 for k > i: the product reads a(i, k) and b(k, ..) for k <= i only,
              ///< rounded up to the register block (the zeros must be there)
  kUpper,     ///< a(i, k) = 0 for k < i, rounded down likewise
  kLowerOut,  ///< only c(i, j) with j <= i is wanted; others may be left or written
};

/// c(i, j) = [c(i, j) +] sum over k of a(i, k) b(k, j);   i < m, j < n, k < depth, all >= 0.
template <class T>
struct GemmArgs {
  int64_t m, n, depth;
  const T* a;  ///< a(i, k) at a[i * a_row + k * a_col]: either side may be transposed
  int64_t a_row, a_col;
  const T* b;  ///< b(k, j) at b[k * b_row + j]
  int64_t b_row;
  T* c;  ///< c(i, j) at c[i * c_row + j]; overlaps neither a nor b
  int64_t c_row;
  bool accumulate;  ///< add to what c holds
  Triangle triangle = Triangle::kNone;
};

/// Errors   none: noexcept, no allocation, no check.
/// Numbers  Sums run over k in order, one accumulator an element: within depth roundings of the
///          exact product. The result of an element depends on m, n and the table, not on threads.
/// Cost     2 m n depth flop. No packing: b should fit L2, a strip of 2 vectors of it L1.
template <class T>
using GemmFn = void (*)(const GemmArgs<T>& args) noexcept;

}  // namespace foxhunt::kernels
