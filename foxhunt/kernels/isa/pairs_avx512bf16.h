#pragma once
// Sixteen pairs of bf16, AVX512-BF16. Sibling: pairs_wide.h (what the operations mean).

#include <immintrin.h>
#include <stdint.h>

#include "foxhunt/kernels/isa/pack_bf16.inl.h"
#include "foxhunt/kernels/isa/vec_avx512.h"

namespace foxhunt::kernels {
namespace {

/// Lane 2 i of the interleaved words is number i, lane 2 i + 1 number 16 + i.
alignas(64) constexpr uint16_t kInterleave[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                  21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                  11, 27, 12, 28, 13, 29, 14, 30, 15, 31};

struct Avx512Bf16Pairs {
  using Vec = Avx512Vec;
  static constexpr unsigned kBlockRows = 12;
  static constexpr int64_t kRowPiece = 16;
  static constexpr int64_t kAcrossPiece = 16;
  static constexpr bool kTurnsPairs = true;

  __m512i v;
  static Avx512Bf16Pairs load(const uint32_t* p) { return {_mm512_loadu_si512(p)}; }
  static Avx512Bf16Pairs all(uint32_t pair) {
    return {_mm512_set1_epi32(static_cast<int32_t>(pair))};
  }
  static Vec dot(Avx512Bf16Pairs a, Avx512Bf16Pairs b, Vec sums) {
    return {
        _mm512_dpbf16_ps(sums.v, reinterpret_cast<__m512bh>(a.v), reinterpret_cast<__m512bh>(b.v))};
  }

  static __m512i rounded(const float* first, const float* second) {
    return reinterpret_cast<__m512i>(
        _mm512_cvtne2ps_pbh(_mm512_loadu_ps(second), _mm512_loadu_ps(first)));
  }
  static void pair_row(const float* in, uint32_t* out) {
    _mm512_storeu_si512(out, rounded(in, in + 16));
  }
  static void pair_rows(const float* first, const float* second, uint32_t* out) {
    const __m512i order = _mm512_load_si512(kInterleave);
    _mm512_storeu_si512(out, _mm512_permutexvar_epi16(order, rounded(first, second)));
  }
  /// out[p * kBf16Panel + r] = pair p of row r for p, r < 8.
  static void turn_pairs(const float* in, int64_t in_row, uint32_t* out) {
    __m256 row[8];
    for (int r = 0; r < 8; ++r) {
      row[r] = reinterpret_cast<__m256>(_mm512_cvtneps_pbh(_mm512_loadu_ps(in + r * in_row)));
    }
    turn8_registers(row);
    for (int p = 0; p < 8; ++p) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + p * kBf16Panel),
                          _mm256_castps_si256(row[p]));
    }
  }
};

}  // namespace
}  // namespace foxhunt::kernels
