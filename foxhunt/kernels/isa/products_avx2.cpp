// Narrow weights widened as they are loaded: AVX2, FMA, F16C.
#include "foxhunt/kernels/isa/narrow.inl.h"
#include "foxhunt/kernels/isa/vec_avx2.h"
#include "foxhunt/kernels/step/product_list.h"

namespace foxhunt::kernels {
namespace {

using V = Avx2Vec;
/// Every CPU with AVX2 converts halves, too.
bool runs() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

struct Bf16 : F32Form<V> {
  static constexpr int kElement = 4;  // a pair
  struct Input {
    V first, second;
  };
  static FX_INLINE const void* prepare(const float* x, int64_t in, void* scratch, float*) {
    return rounded_inputs(x, in, scratch);
  }
  static FX_INLINE Input input(const void* x, int64_t k) {
    const auto* pair = static_cast<const float*>(x) + 2 * k;
    return {V::all(pair[0]), V::all(pair[1])};
  }
  static FX_INLINE void madd(Acc& acc, const char* w, Input x) {
    const __m256i pairs = _mm256_load_si256(reinterpret_cast<const __m256i*>(w));
    const V first = {_mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16))};
    const V second = {_mm256_castsi256_ps(
        _mm256_and_si256(pairs, _mm256_set1_epi32(static_cast<int>(0xffff0000U))))};
    acc = fma(x.second, second, fma(x.first, first, acc));
  }
};

struct F16 : F32Form<V> {
  static constexpr int kElement = 2;
  static FX_INLINE void madd(Acc& acc, const char* w, Input x) {
    const V wide = {_mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(w)))};
    acc = fma(x, wide, acc);
  }
};

/// Pairs of 16-bit products: exact, unlike the saturating 8-bit instruction.
struct I8 {
  using Acc = __m256i;
  using Input = __m256i;
  static constexpr int kLanes = 8;
  static constexpr int kElement = 2;  // a pair
  static FX_INLINE Acc zero() { return _mm256_setzero_si256(); }
  static FX_INLINE const void* prepare(const float* x, int64_t in, void* scratch, float* worth) {
    return whole_inputs<int16_t, 0>(x, in, 2, scratch, worth);
  }
  static FX_INLINE Input input(const void* x, int64_t k) {
    return _mm256_set1_epi32(static_cast<const int32_t*>(x)[k]);
  }
  static FX_INLINE void madd(Acc& acc, const char* w, Input x) {
    const __m256i wide = _mm256_cvtepi8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(w)));
    acc = _mm256_add_epi32(acc, _mm256_madd_epi16(wide, x));
  }
  static FX_INLINE Acc sum(Acc a, Acc b) { return _mm256_add_epi32(a, b); }
  static FX_INLINE void finish(Acc acc, const PackedMatrix& m, int64_t o, float worth, float gain,
                               bool add, float* y) {
    const V value = {_mm256_mul_ps(_mm256_cvtepi32_ps(acc), _mm256_loadu_ps(m.scale + o))};
    store_output<V>(value, m, o, gain * worth, add, y);
  }
};

}  // namespace

constinit const ProductKernel kAvx2Bf16 = {"avx2", "avx2", WeightType::kBF16, &runs, 8,
                                           2,      false,  &product<Bf16>};
constinit const ProductKernel kAvx2F16 = {"avx2", "avx2", WeightType::kF16, &runs, 8,
                                          1,      false,  &product<F16>};
constinit const ProductKernel kAvx2I8 = {"avx2", "avx2", WeightType::kI8, &runs,
                                         8,      2,      false,           &product<I8>};

}  // namespace foxhunt::kernels
