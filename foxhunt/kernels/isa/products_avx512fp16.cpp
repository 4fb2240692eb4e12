// vfmadd..ph: chains of eight products in half precision, each added to float sums. Inputs are
// divided by a power of two, so that no chain leaves the range of a half.
#include <cpuid.h>

#include "foxhunt/kernels/isa/narrow.inl.h"
#include "foxhunt/kernels/isa/vec_avx512.h"
#include "foxhunt/kernels/step/product_list.h"

namespace foxhunt::kernels {
namespace {

using V = Avx512Vec;
constexpr int kChain = 8;
/// Leaf 7, EDX, bit 23; the name is not one that every compiler's builtin knows.
bool runs() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __builtin_cpu_supports("avx512f") != 0 && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
         (d >> 23U & 1U) != 0;
}

struct F16 {
  struct Acc {
    V low, high;
  };
  struct Input {
    __m512h x[kChain];
  };
  static constexpr int kLanes = 32;
  static constexpr int kElement = 2 * kChain;
  static FX_INLINE Acc zero() { return {V::zero(), V::zero()}; }
  static FX_INLINE const void* prepare(const float* x, int64_t in, void* scratch, float* worth) {
    __m512 most = _mm512_setzero_ps();
    for (int64_t k = 0; k < in; k += 16) {
      most = _mm512_max_ps(most, _mm512_abs_ps(V::load_n(x + k, in - k < 16 ? in - k : 16).v));
    }
    // The power of two at or below the largest: halves then lie in (-2, 2).
    const float largest = _mm512_reduce_max_ps(most);
    uint32_t bits;
    __builtin_memcpy(&bits, &largest, 4);
    bits &= 0x7f800000U;
    float unit;
    __builtin_memcpy(&unit, &bits, 4);
    unit = unit > 0.0F ? unit : 1.0F;
    *worth = unit;
    const __m512 inverse = _mm512_set1_ps(1.0F / unit);
    auto* to = static_cast<char*>(scratch);
    const int64_t whole = (in + kChain - 1) / kChain * kChain;
    for (int64_t k = 0; k < whole; k += 16) {
      const int64_t some = in - k < 16 ? (in - k > 0 ? in - k : 0) : 16;
      const __m256i halves = _mm512_cvtps_ph(_mm512_mul_ps(V::load_n(x + k, some).v, inverse),
                                             _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      __builtin_memcpy(to + 2 * k, &halves, sizeof halves);
    }
    return to;
  }
  static FX_INLINE Input input(const void* x, int64_t k) {
    Input all;
#pragma GCC unroll 8
    for (int i = 0; i < kChain; ++i) {
      all.x[i] =
          _mm512_castsi512_ph(_mm512_set1_epi16(static_cast<const int16_t*>(x)[k * kChain + i]));
    }
    return all;
  }
  static FX_INLINE void madd(Acc& acc, const char* w, const Input& x) {
    const auto weights = [w](int i) { return _mm512_castsi512_ph(_mm512_load_si512(w + i * 64)); };
    __m512h chain = _mm512_mul_ph(x.x[0], weights(0));
#pragma GCC unroll 8
    for (int i = 1; i < kChain; ++i) chain = _mm512_fmadd_ph(x.x[i], weights(i), chain);
    const __m512i halves = _mm512_castph_si512(chain);
    acc.low = acc.low + V{_mm512_cvtph_ps(_mm512_castsi512_si256(halves))};
    acc.high = acc.high + V{_mm512_cvtph_ps(_mm512_extracti64x4_epi64(halves, 1))};
  }
  static FX_INLINE Acc sum(Acc a, Acc b) { return {a.low + b.low, a.high + b.high}; }
  static FX_INLINE void finish(const Acc& acc, const PackedMatrix& m, int64_t o, float worth,
                               float gain, bool add, float* y) {
    store_output<V>(acc.low, m, o, gain * worth, add, y);
    store_output<V>(acc.high, m, o + 16, gain * worth, add, y + 16);
  }
};

}  // namespace

constinit const ProductKernel kAvx512Fp16 = {"avx512fp16", "avx512", WeightType::kF16, &runs, 32,
                                             kChain,       true,     &product<F16>};

}  // namespace foxhunt::kernels
