#include "foxhunt/kernels/isa/layer_step.inl.h"
#include "foxhunt/kernels/isa/vec_scalar.h"

namespace foxhunt::kernels {
namespace {
bool runs() noexcept { return true; }
}  // namespace

constinit const StepKernels kScalarStep = make_step<ScalarVec<float>>("scalar", &runs);

}  // namespace foxhunt::kernels
