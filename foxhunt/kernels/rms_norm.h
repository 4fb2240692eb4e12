#pragma once
// The plain RMS norm, x / rms(x) w over the last axis: a gated norm without a gate.

#include <cstdint>

#include "foxhunt/kernels/kernel_table.h"

namespace foxhunt::kernels {

/// x and out [rows, width]; 1/rms into rstd [rows] or, null, nowhere.
inline void rms_norm_forward(const KernelTable& kernels, std::int64_t rows, std::int64_t width,
                             double eps, const float* x, const float* weight, float* out,
                             float* rstd) {
  kernels.gate_norm_forward({rows, width, 1, Gate::kGateFirst, static_cast<float>(eps), x, width,
                             nullptr, 0, weight, out, width, rstd});
}

/// dx [rows, width] written, dweight [width] added to; rstd of the forward pass.
inline void rms_norm_backward(const KernelTable& kernels, std::int64_t rows, std::int64_t width,
                              const float* x, const float* weight, const float* rstd,
                              const float* dout, float* dx, float* dweight) {
  kernels.gate_norm_backward({rows, width, 1, Gate::kGateFirst, x, width, nullptr, 0, weight, rstd,
                              dout, width, dx, width, nullptr, 0, dweight});
}

}  // namespace foxhunt::kernels
