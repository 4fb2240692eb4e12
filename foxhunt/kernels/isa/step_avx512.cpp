#include "foxhunt/kernels/isa/layer_step.inl.h"
#include "foxhunt/kernels/isa/vec_avx512.h"

namespace foxhunt::kernels {
namespace {
bool runs() noexcept { return __builtin_cpu_supports("avx512f") != 0; }
}  // namespace

constinit const StepKernels kAvx512Step = make_step<Avx512Vec>("avx512", &runs);

}  // namespace foxhunt::kernels
