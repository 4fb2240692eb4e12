#include "foxhunt/kernels/isa/gemm_bf16.inl.h"
#include "foxhunt/kernels/isa/pairs_wide.h"
#include "foxhunt/kernels/isa/table.inl.h"
#include "foxhunt/kernels/isa/vec_avx2.h"

namespace foxhunt::kernels {
namespace {
bool runs() noexcept { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

struct Halves {
  static __m256i words(const uint32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static Avx2Vec low(const uint32_t* p) {
    return {_mm256_castsi256_ps(_mm256_slli_epi32(words(p), 16))};
  }
  static Avx2Vec high(const uint32_t* p) {
    return {_mm256_castsi256_ps(_mm256_and_si256(words(p), _mm256_set1_epi32(~0xffff)))};
  }
};
}  // namespace

constinit const KernelTable kAvx2Kernels = make_table<Avx2Vec>("avx2", &runs);
// 4 rows: 8 sums, 4 halves of b and 2 of a fit the 16 registers.
constinit const Bf16Kernels kAvx2Bf16Kernels =
    make_bf16_kernels<WidePairs<Avx2Vec, Halves, 4>>("avx2", &runs);

}  // namespace foxhunt::kernels
