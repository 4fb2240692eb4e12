#pragma once
// The causal depthwise convolution in front of the state space, with its memory.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace foxhunt::nn {

/// v[t, c] = bias[c] + sum_k weight[c, 0, k] in[t - W + 1 + k, c], then SiLU.
/// input [B, T, C]; history [B, C, W]: the raw inputs before the window, newest last; weight [C, 1,
/// W]; bias [C] or undefined; segments as in ops/ssd.h: taps do not reach across a boundary. -> [B,
/// T, C]. Differentiable once.
at::Tensor causal_conv_silu(const at::Tensor& input, const at::Tensor& history,
                            const at::Tensor& weight, const at::Tensor& bias,
                            const at::Tensor& segments);

/// The history behind the window: [B, C, W], zeros before the start of the last segment. With
/// `lengths` [B] the window of row b ends after lengths[b] tokens. Differentiable.
at::Tensor next_history(const at::Tensor& input, const at::Tensor& history,
                        const at::Tensor& segments, const at::Tensor& lengths);

/// One token: input [B, C] -> [B, C]; `history` is the one that already holds it.
at::Tensor conv_silu_step(const at::Tensor& history, const at::Tensor& weight,
                          const at::Tensor& bias);

}  // namespace foxhunt::nn
