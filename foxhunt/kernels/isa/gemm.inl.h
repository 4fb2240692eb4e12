#pragma once
// Register-blocked product: kBlockRows x 2 vectors of c stay in registers over the whole depth;
// each step loads 2 vectors of b and broadcasts one number of a a row.

#include "foxhunt/kernels/gemm.h"

namespace foxhunt::kernels {
namespace {

/// One block of c: kRows rows from `row`, kVecs vectors from `col`, the last with `tail` lanes.
template <class V, unsigned kRows, unsigned kVecs>
inline __attribute__((always_inline)) void gemm_block(const GemmArgs<typename V::Elem>& g,
                                                      int64_t row, int64_t col, int64_t tail,
                                                      int64_t k_begin, int64_t k_end) {
  using T = typename V::Elem;
  constexpr int64_t kL = V::kLanes;
  const bool whole = tail == kL;
  V acc[kRows][kVecs];
#pragma GCC unroll 16
  for (unsigned r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (unsigned v = 0; v < kVecs; ++v) acc[r][v] = V::zero();
  }
  const T* a = g.a + row * g.a_row + k_begin * g.a_col;
  const T* b = g.b + k_begin * g.b_row + col;
  if (whole) {
    for (int64_t k = k_begin; k < k_end; ++k, a += g.a_col, b += g.b_row) {
      V bv[kVecs];
#pragma GCC unroll 4
      for (unsigned v = 0; v < kVecs; ++v) bv[v] = V::load(b + v * kL);
#pragma GCC unroll 16
      for (unsigned r = 0; r < kRows; ++r) {
        const V ar = V::all(a[r * g.a_row]);
#pragma GCC unroll 4
        for (unsigned v = 0; v < kVecs; ++v) acc[r][v] = fma(ar, bv[v], acc[r][v]);
      }
    }
  } else {
    for (int64_t k = k_begin; k < k_end; ++k, a += g.a_col, b += g.b_row) {
      V bv[kVecs];
#pragma GCC unroll 4
      for (unsigned v = 0; v + 1 < kVecs; ++v) bv[v] = V::load(b + v * kL);
      bv[kVecs - 1] = V::load_n(b + (kVecs - 1) * kL, tail);
#pragma GCC unroll 16
      for (unsigned r = 0; r < kRows; ++r) {
        const V ar = V::all(a[r * g.a_row]);
#pragma GCC unroll 4
        for (unsigned v = 0; v < kVecs; ++v) acc[r][v] = fma(ar, bv[v], acc[r][v]);
      }
    }
  }
#pragma GCC unroll 16
  for (unsigned r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (unsigned v = 0; v < kVecs; ++v) {
      T* c = g.c + (row + r) * g.c_row + col + v * kL;
      // What c holds comes in last: sums of many pieces then round once a piece.
      if (v == kVecs - 1 && !whole) {
        (g.accumulate ? acc[r][v] + V::load_n(c, tail) : acc[r][v]).store_n(c, tail);
      } else {
        (g.accumulate ? acc[r][v] + V::load(c) : acc[r][v]).store(c);
      }
    }
  }
}

/// kRows rows from `row`, all columns of the strip; leaves out what the triangle says is zero.
template <class V, unsigned kRows, unsigned kVecs>
void gemm_rows(const GemmArgs<typename V::Elem>& g, int64_t row, int64_t col, int64_t tail) {
  if (g.triangle == Triangle::kLowerOut && col > row + kRows - 1) return;
  int64_t k_begin = 0;
  int64_t k_end = g.depth;
  if (g.triangle == Triangle::kLower && row + kRows < k_end) k_end = row + kRows;
  if (g.triangle == Triangle::kUpper) k_begin = row < k_end ? row : k_end;
  gemm_block<V, kRows, kVecs>(g, row, col, tail, k_begin, k_end);
}

template <class V, unsigned kVecs>
void gemm_strip(const GemmArgs<typename V::Elem>& g, int64_t col, int64_t tail) {
  int64_t row = 0;
  for (; row + V::kBlockRows <= g.m; row += V::kBlockRows) {
    gemm_rows<V, V::kBlockRows, kVecs>(g, row, col, tail);
  }
  if constexpr (V::kBlockRows > 8) {
    for (; row + 8 <= g.m; row += 8) gemm_rows<V, 8, kVecs>(g, row, col, tail);
  }
  if constexpr (V::kBlockRows > 4) {
    for (; row + 4 <= g.m; row += 4) gemm_rows<V, 4, kVecs>(g, row, col, tail);
  }
  for (; row + 2 <= g.m; row += 2) gemm_rows<V, 2, kVecs>(g, row, col, tail);
  for (; row < g.m; ++row) gemm_rows<V, 1, kVecs>(g, row, col, tail);
}

template <class V>
void gemm(const GemmArgs<typename V::Elem>& g) noexcept {
  constexpr int64_t kL = V::kLanes;
  int64_t col = 0;
  for (; col + 2 * kL <= g.n; col += 2 * kL) gemm_strip<V, 2>(g, col, kL);
  const int64_t left = g.n - col;
  if (left > kL) {
    gemm_strip<V, 2>(g, col, left - kL);
  } else if (left > 0) {
    gemm_strip<V, 1>(g, col, left);
  }
}

}  // namespace
}  // namespace foxhunt::kernels
