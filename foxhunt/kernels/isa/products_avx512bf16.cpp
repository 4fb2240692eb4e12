// vdpbf16ps: pairs of bfloat16 into float sums.
#include "foxhunt/kernels/isa/narrow.inl.h"
#include "foxhunt/kernels/isa/vec_avx512.h"
#include "foxhunt/kernels/step/product_list.h"

namespace foxhunt::kernels {
namespace {

using V = Avx512Vec;
bool runs() noexcept {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bf16") != 0;
}

struct Bf16 : F32Form<V> {
  static constexpr int kElement = 4;  // a pair
  using Input = __m512bh;
  static FX_INLINE const void* prepare(const float* x, int64_t in, void* scratch, float*) {
    auto* to = static_cast<char*>(scratch);
    int64_t k = 0;
    for (; k + 16 <= in; k += 16) {
      const __m256bh half = _mm512_cvtneps_pbh(_mm512_loadu_ps(x + k));
      __builtin_memcpy(to + 2 * k, &half, sizeof half);
    }
    for (; k < in + in % 2; ++k) {
      const auto bits = static_cast<uint16_t>(k < in ? to_bf16(x[k]) : 0U);
      __builtin_memcpy(to + 2 * k, &bits, 2);
    }
    return to;
  }
  static FX_INLINE Input input(const void* x, int64_t k) {
    const __m512i pair = _mm512_set1_epi32(static_cast<const int32_t*>(x)[k]);
    __m512bh all;
    __builtin_memcpy(&all, &pair, sizeof all);
    return all;
  }
  static FX_INLINE void madd(Acc& acc, const char* w, Input x) {
    const __m512i pairs = _mm512_load_si512(w);
    __m512bh weights;
    __builtin_memcpy(&weights, &pairs, sizeof weights);
    acc.v = _mm512_dpbf16_ps(acc.v, weights, x);
  }
};

}  // namespace

constinit const ProductKernel kAvx512Bf16 = {
    "avx512bf16", "avx512", WeightType::kBF16, &runs, 16, 2, false, &product<Bf16>};

}  // namespace foxhunt::kernels
