#pragma once
// Packing for products in bf16 (gemm_bf16.h). P does whole pieces: P::kRowPiece pairs of a row
// (pair_row), P::kAcrossPiece pairs of two rows (pair_rows), 8 x 8 pairs turned (turn_pairs);
// here are the orders of the four forms and all tails.

#include "foxhunt/kernels/gemm_bf16.h"
#include "foxhunt/kernels/isa/bf16.inl.h"

namespace foxhunt::kernels {
namespace {

inline uint32_t bf16_pair(float first, float second) {
  return to_bf16(first) | to_bf16(second) << 16U;
}

/// out[p] = (in[2 p], in[2 p + 1]).
template <class P>
void bf16_pair_along(int64_t count, const float* in, uint32_t* out) {
  int64_t p = 0;
  for (; 2 * (p + P::kRowPiece) <= count; p += P::kRowPiece) P::pair_row(in + 2 * p, out + p);
  for (; 2 * p + 1 < count; ++p) out[p] = bf16_pair(in[2 * p], in[2 * p + 1]);
  if (2 * p < count) out[p] = bf16_pair(in[2 * p], 0.0F);
}

/// out[c] = (first[c], second[c]); second null: 0.
template <class P>
void bf16_pair_across(int64_t count, const float* first, const float* second, uint32_t* out) {
  int64_t c = 0;
  if (second == nullptr) {
    for (; c < count; ++c) out[c] = bf16_pair(first[c], 0.0F);
    return;
  }
  for (; c + P::kAcrossPiece <= count; c += P::kAcrossPiece) {
    P::pair_rows(first + c, second + c, out + c);
  }
  for (; c < count; ++c) out[c] = bf16_pair(first[c], second[c]);
}

template <class P>
void bf16_pack_rows(const Bf16PackArgs& g) noexcept {
  for (int64_t r = 0; r < g.rows; ++r) {
    bf16_pair_along<P>(g.columns, g.in + r * g.in_row, g.out + r * bf16_pairs(g.columns));
  }
}

/// The rows of pair p: in's row 2 p, and the one behind it or null.
inline const float* second_row(const Bf16PackArgs& g, int64_t p) {
  return 2 * p + 1 < g.rows ? g.in + (2 * p + 1) * g.in_row : nullptr;
}

template <class P>
void bf16_pack_turned(const Bf16PackArgs& g) noexcept {
  for (int64_t p = 0; p < bf16_pairs(g.rows); ++p) {
    bf16_pair_across<P>(g.columns, g.in + 2 * p * g.in_row, second_row(g, p),
                        g.out + p * g.columns);
  }
}

template <class P>
void bf16_pack_panels(const Bf16PackArgs& g) noexcept {
  const int64_t pairs = bf16_pairs(g.rows);
  for (int64_t p = 0; p < pairs; ++p) {
    const float* first = g.in + 2 * p * g.in_row;
    const float* second = second_row(g, p);
    for (int64_t col = 0; col < g.columns; col += kBf16Panel) {
      uint32_t* out = g.out + col * pairs + p * kBf16Panel;
      const int64_t left = g.columns - col;
      const int64_t count = left < kBf16Panel ? left : kBf16Panel;
      bf16_pair_across<P>(count, first + col, second == nullptr ? nullptr : second + col, out);
      for (int64_t c = count; c < kBf16Panel; ++c) out[c] = 0;
    }
  }
}

template <class P>
void bf16_pack_panels_turned(const Bf16PackArgs& g) noexcept {
  const int64_t pairs = bf16_pairs(g.columns);
  for (int64_t r = 0; r < g.rows; r += 8) {  // 8 divides a panel
    uint32_t* out = g.out + r / kBf16Panel * pairs * kBf16Panel + r % kBf16Panel;
    const int64_t left = g.rows - r;
    const int64_t rows = left < 8 ? left : 8;
    int64_t p = 0;
    if constexpr (P::kTurnsPairs) {
      for (; rows == 8 && 2 * (p + 8) <= g.columns; p += 8) {
        P::turn_pairs(g.in + r * g.in_row + 2 * p, g.in_row, out + p * kBf16Panel);
      }
    }
    for (; p < pairs; ++p) {
      for (int64_t i = 0; i < rows; ++i) {
        const float* in = g.in + (r + i) * g.in_row + 2 * p;
        out[p * kBf16Panel + i] = bf16_pair(in[0], 2 * p + 1 < g.columns ? in[1] : 0.0F);
      }
    }
  }
  const int64_t whole = (g.rows + kBf16Panel - 1) / kBf16Panel * kBf16Panel;
  for (int64_t c = g.rows; c < whole; ++c) {
    uint32_t* out = g.out + c / kBf16Panel * pairs * kBf16Panel + c % kBf16Panel;
    for (int64_t p = 0; p < pairs; ++p) out[p * kBf16Panel] = 0;
  }
}

}  // namespace
}  // namespace foxhunt::kernels
