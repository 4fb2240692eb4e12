#pragma once
// x (mean x^2 + eps)^(-1/2) weight, the mean over each group of channels.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace foxhunt::nn {

/// x [.., width], weight [width], `groups` divides width. Differentiable once.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps, std::int64_t groups);

/// True where rms_norm_native() has a kernel: float on the CPU.
bool has_rms_norm_kernel(const at::Tensor& x);
/// The same with one group, by the CPU's kernel on one thread.
at::Tensor rms_norm_native(const at::Tensor& x, const at::Tensor& weight, double eps);

}  // namespace foxhunt::nn
