#pragma once
// x W^T + b over the last axis, as an autograd function over the CPU's matrix kernel.

#include <ATen/core/Tensor.h>

namespace foxhunt::nn {

/// True where linear() has a kernel: float on the CPU, outside autocast.
bool has_linear_kernel(const at::Tensor& x);

/// x [.., K], weight [N, K], bias [N] or undefined -> [.., N]. One thread; the sums of an element
/// run in one order whatever the batch.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace foxhunt::nn
