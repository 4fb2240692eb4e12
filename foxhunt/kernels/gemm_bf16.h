#pragma once
// Matrix products of numbers rounded to bf16, summed in float32: twice the multiply-adds a cycle
// where the CPU has AVX512-BF16, the same numbers elsewhere.
//
// Both sides are packed first: rounded to the nearest bf16, ties to even, two numbers that meet in
// one sum side by side in a 32-bit word (the first in the low half). An odd depth ends in a zero.
// NaN stays NaN, numbers above the largest bf16 become infinite, denormal numbers zero.
//
// Plain data only: files compiled with -mavx512bf16 include this one.

#include <stdint.h>

namespace foxhunt::kernels {

/// Words of one sum of `depth` products.
constexpr int64_t bf16_pairs(int64_t depth) { return (depth + 1) / 2; }

/// The right side lies in panels of so many columns: panel j / 32, pair p, column j % 32. The last
/// panel is filled up with zeros.
constexpr int64_t kBf16Panel = 32;
constexpr int64_t bf16_panels_size(int64_t depth, int64_t n) {
  return (n + kBf16Panel - 1) / kBf16Panel * bf16_pairs(depth) * kBf16Panel;
}

/// A float matrix [rows, columns] to be packed.
struct Bf16PackArgs {
  int64_t rows, columns;
  const float* in;
  int64_t in_row;
  uint32_t* out;
};
using Bf16PackFn = void (*)(const Bf16PackArgs& args) noexcept;

/// c(i, j) = [c(i, j) +] sum over k of a(i, k) b(k, j);   i < m, j < n, all sizes >= 0.
struct Bf16GemmArgs {
  int64_t m, n, pairs;
  const uint32_t* a;  ///< pair p of row i at a[i * a_row + p * a_pair]
  int64_t a_row, a_pair;
  const uint32_t* b;  ///< panels
  float* c;           ///< c(i, j) at c[i * c_row + j]
  int64_t c_row;
  bool accumulate;  ///< add to what c holds
};

/// The kernels of one instruction set.
/// Errors   none: noexcept, no allocation, no check.
/// Numbers  Packing gives the same bits in every table. Products of two bf16 are exact in float32;
///          a sum runs over k in order, one accumulator an element, a rounding a term at most, and
///          what c holds is added last. A result depends on its row, its column and the table, not
///          on m, n or threads. AVX512-BF16 flushes denormal sums to zero.
/// Cost     2 m n depth flop; packing is a pass over each side.
struct Bf16Kernels {
  const char* name;              ///< "scalar", "avx2", "avx512", "avx512bf16"
  bool (*runs_here)() noexcept;  ///< by this CPU and operating system
  /// Pairs along a row, out [rows, bf16_pairs(columns)]: a left side as it lies.
  Bf16PackFn pack_rows;
  /// Pairs of two rows, out [bf16_pairs(rows), columns]: the left side that is this matrix turned.
  Bf16PackFn pack_turned;
  /// Pairs of two rows in panels, out [bf16_panels_size(rows, columns)]: a right side as it lies.
  Bf16PackFn pack_panels;
  /// Pairs along a row in panels, out [bf16_panels_size(columns, rows)]: the right side that is
  /// this matrix turned.
  Bf16PackFn pack_panels_turned;
  void (*gemm)(const Bf16GemmArgs& args) noexcept;
};

extern const Bf16Kernels kScalarBf16Kernels;
extern const Bf16Kernels kAvx2Bf16Kernels;
extern const Bf16Kernels kAvx512WideBf16Kernels;  ///< AVX-512F without bf16 instructions: "avx512"
extern const Bf16Kernels kAvx512Bf16Kernels;      ///< "avx512bf16"

}  // namespace foxhunt::kernels
