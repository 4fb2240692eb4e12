#pragma once
// Parameters under the names of checkpoints, on an explicit device. They hold and initialise; the
// layers compute.
//
// Own modules because torch's fill themselves on the default device in their constructors, and
// `to(kMeta)` throws.

#include <torch/nn/module.h>

#include <cstdint>

#include "foxhunt/nn/backend.h"

namespace foxhunt::nn {

/// `weight` [out, in] and, with one, `bias` [out].
struct LinearPart : torch::nn::Module {
  LinearPart(std::int64_t in, std::int64_t out, bool with_bias, const at::TensorOptions& options);
  at::Tensor operator()(const at::Tensor& x) const;  ///< [.., in] -> [.., out]
  at::Tensor weight, bias;
  Kernels kernels = Kernels::kNative;
};

/// `weight` [C, 1, W] and, with one, `bias` [C].
struct ConvPart : torch::nn::Module {
  ConvPart(std::int64_t channels, std::int64_t width, bool with_bias,
           const at::TensorOptions& options);
  at::Tensor weight, bias;
};

/// `weight` [width] of an RMS norm.
struct NormPart : torch::nn::Module {
  NormPart(std::int64_t width, const at::TensorOptions& options);
  at::Tensor operator()(const at::Tensor& x,
                        double eps) const;  ///< x / rms(x) * weight over the last axis
  at::Tensor weight;
  Kernels kernels = Kernels::kNative;
};

/// `weight` [V, D], looked up by token.
struct EmbeddingPart : torch::nn::Module {
  EmbeddingPart(std::int64_t tokens, std::int64_t width, const at::TensorOptions& options);
  at::Tensor weight;
};

}  // namespace foxhunt::nn
