#pragma once
// Eight floats, AVX2 with FMA. Siblings: vec_scalar.h (what the operations mean), vec_avx512.h.

#include <immintrin.h>
#include <stdint.h>

#include "foxhunt/kernels/isa/transpose8.h"

namespace foxhunt::kernels {
namespace {

/// The first n of these eight words from 8 - n on are all ones: masks of the first n lanes.
alignas(32) constexpr int32_t kMaskWords[16] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                                0,  0,  0,  0,  0,  0,  0,  0};

struct Avx2Vec {
  using Elem = float;
  static constexpr int kLanes = 8;
  static constexpr unsigned kBlockRows = 6;
  static constexpr bool kOwnMath = true;
  static constexpr bool kTurns8 = true;
  static void turn8(const float* in, int64_t in_row, float* out, int64_t out_row) {
    transpose8(in, in_row, out, out_row);
  }

  __m256 v;
  static __m256i mask(int64_t n) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMaskWords + 8 - n));
  }
  static Avx2Vec zero() { return {_mm256_setzero_ps()}; }
  static Avx2Vec all(float x) { return {_mm256_set1_ps(x)}; }
  static Avx2Vec load(const float* p) { return {_mm256_loadu_ps(p)}; }
  static Avx2Vec load_n(const float* p, int64_t n) { return {_mm256_maskload_ps(p, mask(n))}; }
  void store(float* p) const { _mm256_storeu_ps(p, v); }
  void store_n(float* p, int64_t n) const { _mm256_maskstore_ps(p, mask(n), v); }
  float sum() const {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }
  static Avx2Vec sqrt(Avx2Vec x) { return {_mm256_sqrt_ps(x.v)}; }
  /// 1 / x for x in [1e-35, 1e35].
  static Avx2Vec reciprocal(Avx2Vec x) { return {_mm256_div_ps(_mm256_set1_ps(1.0F), x.v)}; }
  static Avx2Vec round(Avx2Vec x) {
    return {_mm256_round_ps(x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
  }
  /// x 2^n for whole n in [-252, 254], in two halves so that neither overflows by itself.
  static Avx2Vec scale2(Avx2Vec x, Avx2Vec n) {
    const __m256i whole = _mm256_cvtps_epi32(n.v);
    const __m256i half = _mm256_srai_epi32(whole, 1);
    const __m256i rest = _mm256_sub_epi32(whole, half);
    const __m256i bias = _mm256_set1_epi32(127);
    const __m256 a = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23));
    const __m256 b = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(rest, bias), 23));
    return {_mm256_mul_ps(_mm256_mul_ps(x.v, a), b)};
  }

  friend Avx2Vec operator+(Avx2Vec a, Avx2Vec b) { return {_mm256_add_ps(a.v, b.v)}; }
  friend Avx2Vec operator-(Avx2Vec a, Avx2Vec b) { return {_mm256_sub_ps(a.v, b.v)}; }
  friend Avx2Vec operator*(Avx2Vec a, Avx2Vec b) { return {_mm256_mul_ps(a.v, b.v)}; }
  friend Avx2Vec operator/(Avx2Vec a, Avx2Vec b) { return {_mm256_div_ps(a.v, b.v)}; }
  friend Avx2Vec fma(Avx2Vec a, Avx2Vec b, Avx2Vec c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
  friend Avx2Vec max(Avx2Vec a, Avx2Vec b) { return {_mm256_max_ps(a.v, b.v)}; }
  friend Avx2Vec min(Avx2Vec a, Avx2Vec b) { return {_mm256_min_ps(a.v, b.v)}; }
  friend Avx2Vec where_less(Avx2Vec a, Avx2Vec b, Avx2Vec yes, Avx2Vec no) {
    return {_mm256_blendv_ps(no.v, yes.v, _mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ))};
  }
};

}  // namespace
}  // namespace foxhunt::kernels
