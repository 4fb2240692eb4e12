#pragma once
// Sixteen floats, AVX-512F. Siblings: vec_scalar.h (what the operations mean), vec_avx2.h.

#include <immintrin.h>
#include <stdint.h>

#include "foxhunt/kernels/isa/transpose8.h"

namespace foxhunt::kernels {
namespace {

struct Avx512Vec {
  using Elem = float;
  static constexpr int kLanes = 16;
  static constexpr unsigned kBlockRows = 12;
  static constexpr bool kOwnMath = true;
  static constexpr bool kTurns8 = true;
  static void turn8(const float* in, int64_t in_row, float* out, int64_t out_row) {
    transpose8(in, in_row, out, out_row);
  }

  __m512 v;
  static __mmask16 mask(int64_t n) { return static_cast<__mmask16>((1U << n) - 1U); }
  static Avx512Vec zero() { return {_mm512_setzero_ps()}; }
  static Avx512Vec all(float x) { return {_mm512_set1_ps(x)}; }
  static Avx512Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static Avx512Vec load_n(const float* p, int64_t n) { return {_mm512_maskz_loadu_ps(mask(n), p)}; }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  void store_n(float* p, int64_t n) const { _mm512_mask_storeu_ps(p, mask(n), v); }
  float sum() const { return _mm512_reduce_add_ps(v); }
  static Avx512Vec sqrt(Avx512Vec x) { return {_mm512_sqrt_ps(x.v)}; }
  /// 1 / x for x in [1e-35, 1e35]: the 14-bit estimate and a Newton step, within an ulp. A division
  /// of 16 lanes costs as much as a whole exp.
  static Avx512Vec reciprocal(Avx512Vec x) {
    const __m512 r = _mm512_rcp14_ps(x.v);
    return {_mm512_mul_ps(r, _mm512_fnmadd_ps(x.v, r, _mm512_set1_ps(2.0F)))};
  }
  static Avx512Vec round(Avx512Vec x) {
    return {_mm512_roundscale_ps(x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
  }
  /// x 2^n for whole n.
  static Avx512Vec scale2(Avx512Vec x, Avx512Vec n) { return {_mm512_scalef_ps(x.v, n.v)}; }

  friend Avx512Vec operator+(Avx512Vec a, Avx512Vec b) { return {_mm512_add_ps(a.v, b.v)}; }
  friend Avx512Vec operator-(Avx512Vec a, Avx512Vec b) { return {_mm512_sub_ps(a.v, b.v)}; }
  friend Avx512Vec operator*(Avx512Vec a, Avx512Vec b) { return {_mm512_mul_ps(a.v, b.v)}; }
  friend Avx512Vec operator/(Avx512Vec a, Avx512Vec b) { return {_mm512_div_ps(a.v, b.v)}; }
  friend Avx512Vec fma(Avx512Vec a, Avx512Vec b, Avx512Vec c) {
    return {_mm512_fmadd_ps(a.v, b.v, c.v)};
  }
  friend Avx512Vec max(Avx512Vec a, Avx512Vec b) { return {_mm512_max_ps(a.v, b.v)}; }
  friend Avx512Vec min(Avx512Vec a, Avx512Vec b) { return {_mm512_min_ps(a.v, b.v)}; }
  friend Avx512Vec where_less(Avx512Vec a, Avx512Vec b, Avx512Vec yes, Avx512Vec no) {
    return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ), no.v, yes.v)};
  }
};

}  // namespace
}  // namespace foxhunt::kernels
