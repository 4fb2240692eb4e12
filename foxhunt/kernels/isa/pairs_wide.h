#pragma once
// Pairs of bf16 on CPUs without bf16 instructions: a half of a word, shifted to the top, is the
// number as a float. V is the vector of the sums, Halves its integer form:
//   Halves::low(p) / high(p)   the two numbers of V::kLanes words at p
//
// The products are exact, so two fused multiply-adds round like two additions.

#include "foxhunt/kernels/isa/lanes.inl.h"
#include "foxhunt/kernels/isa/pack_bf16.inl.h"

namespace foxhunt::kernels {
namespace {

template <class V, class Halves, unsigned kRows>
struct WidePairs {
  using Vec = V;
  static constexpr unsigned kBlockRows = kRows;
  static constexpr int64_t kRowPiece = 8;  ///< whole pieces: loops the compiler can unroll
  static constexpr int64_t kAcrossPiece = 16;
  static constexpr bool kTurnsPairs = false;

  V low, high;
  static WidePairs load(const uint32_t* p) { return {Halves::low(p), Halves::high(p)}; }
  static WidePairs all(uint32_t pair) {
    return {V::all(__builtin_bit_cast(float, pair << 16U)),
            V::all(__builtin_bit_cast(float, pair & 0xffff0000U))};
  }
  static V dot(WidePairs a, WidePairs b, V sums) {
    return fma(a.low, b.low, fma(a.high, b.high, sums));
  }
  static void pair_row(const float* in, uint32_t* out) {
    for (int64_t p = 0; p < kRowPiece; ++p) out[p] = bf16_pair(in[2 * p], in[2 * p + 1]);
  }
  static void pair_rows(const float* first, const float* second, uint32_t* out) {
    for (int64_t c = 0; c < kAcrossPiece; ++c) out[c] = bf16_pair(first[c], second[c]);
  }
};

}  // namespace
}  // namespace foxhunt::kernels
