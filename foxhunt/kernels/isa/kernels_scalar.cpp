#include "foxhunt/kernels/isa/gemm_bf16.inl.h"
#include "foxhunt/kernels/isa/pairs_wide.h"
#include "foxhunt/kernels/isa/table.inl.h"

namespace foxhunt::kernels {
namespace {
bool runs() noexcept { return true; }

struct Halves {
  static ScalarVec<float> low(const uint32_t* p) { return {__builtin_bit_cast(float, *p << 16U)}; }
  static ScalarVec<float> high(const uint32_t* p) {
    return {__builtin_bit_cast(float, *p & 0xffff0000U)};
  }
};
}  // namespace

constinit const KernelTable kScalarKernels = make_table<ScalarVec<float>>("scalar", &runs);
constinit const KernelTableOf<double> kFloat64Kernels =
    make_table<ScalarVec<double>>("float64", &runs);
constinit const Bf16Kernels kScalarBf16Kernels =
    make_bf16_kernels<WidePairs<ScalarVec<float>, Halves, 4>>("scalar", &runs);

}  // namespace foxhunt::kernels
