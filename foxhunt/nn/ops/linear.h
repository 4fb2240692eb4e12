#pragma once
// x W^T + b over the last axis, as an autograd function over the CPU's matrix kernel.

#include <ATen/core/Tensor.h>

namespace foxhunt::nn {

/// True where linear() has a kernel: float on the CPU, under no autocast but that to bfloat16.
bool has_linear_kernel(const at::Tensor& x);

/// True under autocast to bfloat16 on the CPU: products then run in bf16 with float32 sums.
bool bf16_products();

/// x [.., K], weight [N, K], bias [N] or undefined -> [.., N]. One thread; the sums of an element
/// run in one order whatever the batch. Float32 out in either precision.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace foxhunt::nn
