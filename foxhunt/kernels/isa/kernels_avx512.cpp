#include "foxhunt/kernels/isa/gemm_bf16.inl.h"
#include "foxhunt/kernels/isa/pairs_wide.h"
#include "foxhunt/kernels/isa/table.inl.h"
#include "foxhunt/kernels/isa/vec_avx512.h"

namespace foxhunt::kernels {
namespace {
bool runs() noexcept { return __builtin_cpu_supports("avx512f") != 0; }

struct Halves {
  static Avx512Vec low(const uint32_t* p) {
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(p), 16))};
  }
  static Avx512Vec high(const uint32_t* p) {
    return {
        _mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(p), _mm512_set1_epi32(~0xffff)))};
  }
};
}  // namespace

constinit const KernelTable kAvx512Kernels = make_table<Avx512Vec>("avx512", &runs);
constinit const Bf16Kernels kAvx512WideBf16Kernels =
    make_bf16_kernels<WidePairs<Avx512Vec, Halves, 12>>("avx512", &runs);

}  // namespace foxhunt::kernels
