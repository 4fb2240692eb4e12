#include "foxhunt/kernels/isa/table.inl.h"

namespace foxhunt::kernels {
namespace {
bool runs() noexcept { return true; }
}  // namespace

constinit const KernelTable kScalarKernels = make_table<ScalarVec<float>>("scalar", &runs);
constinit const KernelTableOf<double> kFloat64Kernels =
    make_table<ScalarVec<double>>("float64", &runs);

}  // namespace foxhunt::kernels
