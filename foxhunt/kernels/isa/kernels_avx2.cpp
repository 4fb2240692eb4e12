#include "foxhunt/kernels/isa/table.inl.h"
#include "foxhunt/kernels/isa/vec_avx2.h"

namespace foxhunt::kernels {
namespace {
bool runs() noexcept { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
}  // namespace

constinit const KernelTable kAvx2Kernels = make_table<Avx2Vec>("avx2", &runs);

}  // namespace foxhunt::kernels
