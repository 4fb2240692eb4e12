#pragma once
// Products of packed bf16 pairs: gemm.inl.h's register block over panels of 32 columns.
//
// P is a vector of pairs: P::Vec its sums, load(), all(), and dot(a, b, sums), which adds both
// products of every pair.

#include "foxhunt/kernels/gemm_bf16.h"
#include "foxhunt/kernels/isa/lanes.inl.h"
#include "foxhunt/kernels/isa/pack_bf16.inl.h"

namespace foxhunt::kernels {
namespace {

/// kRows rows from `row`, kVecs vectors of a panel; the last has `tail` columns.
template <class P, unsigned kRows, unsigned kVecs>
void bf16_block(const Bf16GemmArgs& g, const uint32_t* panel, int64_t row, int64_t col,
                int64_t tail) {
  using V = typename P::Vec;
  constexpr int64_t kL = V::kLanes;
  V acc[kRows][kVecs];
#pragma GCC unroll 16
  for (unsigned r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (unsigned v = 0; v < kVecs; ++v) acc[r][v] = V::zero();
  }
  const uint32_t* a = g.a + row * g.a_row;
  const uint32_t* b = panel;
  for (int64_t p = 0; p < g.pairs; ++p, a += g.a_pair, b += kBf16Panel) {
    P bv[kVecs];
#pragma GCC unroll 4
    for (unsigned v = 0; v < kVecs; ++v) bv[v] = P::load(b + v * kL);
#pragma GCC unroll 16
    for (unsigned r = 0; r < kRows; ++r) {
      const P ar = P::all(a[r * g.a_row]);
#pragma GCC unroll 4
      for (unsigned v = 0; v < kVecs; ++v) acc[r][v] = P::dot(ar, bv[v], acc[r][v]);
    }
  }
#pragma GCC unroll 16
  for (unsigned r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (unsigned v = 0; v < kVecs; ++v) {
      float* c = g.c + (row + r) * g.c_row + col + v * kL;
      const int64_t lanes = v + 1 == kVecs ? tail : kL;
      store_some<V>(g.accumulate ? acc[r][v] + load_some<V>(c, lanes) : acc[r][v], c, lanes);
    }
  }
}

template <class P, unsigned kVecs>
void bf16_strip(const Bf16GemmArgs& g, const uint32_t* panel, int64_t col, int64_t tail) {
  int64_t row = 0;
  for (; row + P::kBlockRows <= g.m; row += P::kBlockRows) {
    bf16_block<P, P::kBlockRows, kVecs>(g, panel, row, col, tail);
  }
  if constexpr (P::kBlockRows > 8) {
    for (; row + 8 <= g.m; row += 8) bf16_block<P, 8, kVecs>(g, panel, row, col, tail);
  }
  if constexpr (P::kBlockRows > 4) {
    for (; row + 4 <= g.m; row += 4) bf16_block<P, 4, kVecs>(g, panel, row, col, tail);
  }
  for (; row + 2 <= g.m; row += 2) bf16_block<P, 2, kVecs>(g, panel, row, col, tail);
  for (; row < g.m; ++row) bf16_block<P, 1, kVecs>(g, panel, row, col, tail);
}

template <class P>
void gemm_bf16(const Bf16GemmArgs& g) noexcept {
  constexpr int64_t kL = P::Vec::kLanes;
  for (int64_t col = 0; col < g.n;) {
    const uint32_t* panel = g.b + col / kBf16Panel * g.pairs * kBf16Panel + col % kBf16Panel;
    const int64_t left = g.n - col;
    if (left > kL) {
      const int64_t lanes = left < 2 * kL ? left - kL : kL;
      bf16_strip<P, 2>(g, panel, col, lanes);
      col += kL + lanes;
    } else {
      bf16_strip<P, 1>(g, panel, col, left);
      col += left;
    }
  }
}

template <class P>
constexpr Bf16Kernels make_bf16_kernels(const char* name, bool (*runs)() noexcept) {
  return {name,
          runs,
          &bf16_pack_rows<P>,
          &bf16_pack_turned<P>,
          &bf16_pack_panels<P>,
          &bf16_pack_panels_turned<P>,
          &gemm_bf16<P>};
}

}  // namespace
}  // namespace foxhunt::kernels
