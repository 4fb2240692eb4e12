#pragma once
// The state space of ops/ssd.h on our own GPU kernels (kernels/cuda).

#include <ATen/core/Tensor.h>

#include "foxhunt/nn/ops/ssd.h"

namespace foxhunt::nn {

/// Whether the kernels can take operands like these: on a GPU whose self-test passed, x, B and C
/// float32 or bfloat16, the rest float32. The first call for a device runs the self-test.
bool gpu_kernels_take(const at::Tensor& xbc, const at::Tensor& dt, const at::Tensor& state);

/// As ssd_window(); the kernels choose the chunk. y and the gradient of xbc have xbc's dtype.
/// Differentiable once. Numbers  the same call gives the same bits.
/// Errors  DeviceError: a launch failed.
SsdResult ssd_window_gpu(const SsdSizes& sizes, const at::Tensor& xbc, const at::Tensor& dt,
                         const at::Tensor& A, const at::Tensor& D, const at::Tensor& state,
                         const at::Tensor& segments);

/// As ssd_step(). Where gradients are asked for it is a window of one token.
SsdResult ssd_step_gpu(const SsdSizes& sizes, const at::Tensor& xbc, const at::Tensor& dt,
                       const at::Tensor& A, const at::Tensor& D, const at::Tensor& state);

}  // namespace foxhunt::nn
