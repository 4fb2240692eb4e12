#pragma once
// Every product kernel of narrow weights in this binary. Plain data only.

#include "foxhunt/kernels/step/product.h"

namespace foxhunt::kernels {

extern const ProductKernel kAvx512Bf16, kAvx2Bf16, kScalarBf16;
extern const ProductKernel kAvx512Fp16, kAvx2F16, kScalarF16;
extern const ProductKernel kAvx512Vnni, kAvx2I8, kScalarI8;

}  // namespace foxhunt::kernels
