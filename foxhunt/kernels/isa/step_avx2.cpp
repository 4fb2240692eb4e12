#include "foxhunt/kernels/isa/layer_step.inl.h"
#include "foxhunt/kernels/isa/vec_avx2.h"

namespace foxhunt::kernels {
namespace {
bool runs() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
}  // namespace

constinit const StepKernels kAvx2Step = make_step<Avx2Vec>("avx2", &runs);

}  // namespace foxhunt::kernels
