#include "foxhunt/kernels/isa/gemm_bf16.inl.h"
#include "foxhunt/kernels/isa/pairs_avx512bf16.h"

namespace foxhunt::kernels {
namespace {
bool runs() noexcept {
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw");
}
}  // namespace

constinit const Bf16Kernels kAvx512Bf16Kernels =
    make_bf16_kernels<Avx512Bf16Pairs>("avx512bf16", &runs);

}  // namespace foxhunt::kernels
