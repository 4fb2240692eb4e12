// vpdpbusd: four 8-bit products into a 32-bit sum. Inputs are shifted by 128 to be unsigned, and
// the rows' sums take the shift out again.
#include "foxhunt/kernels/isa/narrow.inl.h"
#include "foxhunt/kernels/isa/vec_avx512.h"
#include "foxhunt/kernels/step/product_list.h"

namespace foxhunt::kernels {
namespace {

using V = Avx512Vec;
constexpr int kShift = 128;
bool runs() noexcept {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vnni") != 0;
}

struct I8 {
  using Acc = __m512i;
  using Input = __m512i;
  static constexpr int kLanes = 16;
  static constexpr int kElement = 4;  // a quad
  static FX_INLINE Acc zero() { return _mm512_setzero_si512(); }
  /// As whole_inputs(), the same numbers, a vector at a time.
  static FX_INLINE const void* prepare(const float* x, int64_t in, void* scratch, float* worth) {
    __m512 most = _mm512_setzero_ps();
    for (int64_t k = 0; k < in; k += 16) {
      const __m512 v = V::load_n(x + k, in - k < 16 ? in - k : 16).v;
      most = _mm512_max_ps(most, _mm512_abs_ps(v));
    }
    const float largest = _mm512_reduce_max_ps(most);
    *worth = largest / 127.0F;
    const __m512 units = _mm512_set1_ps(largest > 0.0F ? 127.0F / largest : 0.0F);
    auto* to = static_cast<char*>(scratch);
    for (int64_t k = 0; k < in; k += 16) {
      const __m512 v = V::load_n(x + k, in - k < 16 ? in - k : 16).v;
      const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(v, units));
      const __m128i bytes =
          _mm512_cvtepi32_epi8(_mm512_add_epi32(whole, _mm512_set1_epi32(kShift)));
      __builtin_memcpy(to + k, &bytes, sizeof bytes);
    }
    return to;
  }
  static FX_INLINE Input input(const void* x, int64_t k) {
    return _mm512_set1_epi32(static_cast<const int32_t*>(x)[k]);
  }
  static FX_INLINE void madd(Acc& acc, const char* w, Input x) {
    acc = _mm512_dpbusd_epi32(acc, x, _mm512_load_si512(w));
  }
  static FX_INLINE Acc sum(Acc a, Acc b) { return _mm512_add_epi32(a, b); }
  static FX_INLINE void finish(Acc acc, const PackedMatrix& m, int64_t o, float worth, float gain,
                               bool add, float* y) {
    const __m512i shift = _mm512_slli_epi32(_mm512_loadu_si512(m.offset + o), 7);
    const __m512 sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(acc, shift));
    const V value = {_mm512_mul_ps(sum, _mm512_loadu_ps(m.scale + o))};
    store_output<V>(value, m, o, gain * worth, add, y);
  }
};

}  // namespace

constinit const ProductKernel kAvx512Vnni = {"avx512vnni", "avx512", WeightType::kI8, &runs,
                                             16,           4,        false,           &product<I8>};

}  // namespace foxhunt::kernels
