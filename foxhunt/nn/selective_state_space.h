#pragma once
// The core of a layer: step size, decay, skip and the recurrence. Holds no parameters of its own:
// the tensors belong to the layer and are shared.

#include <ATen/core/Tensor.h>

#include "foxhunt/model/mamba2_config.h"
#include "foxhunt/nn/backend.h"
#include "foxhunt/nn/ops/ssd.h"

namespace foxhunt::nn {

class SelectiveStateSpace {
 public:
  SelectiveStateSpace(const model::Mamba2Config& config, at::Tensor dt_bias, at::Tensor A_log,
                      at::Tensor D);

  void use_kernels(Kernels kernels) { kernels_ = kernels; }
  /// What window() and step() run for operands like these: kNative where it was asked for and there
  /// is a kernel for them.
  Kernels kernels_for(const at::Tensor& xbc, const at::Tensor& dt, const at::Tensor& state) const;

  /// clamp(softplus(raw + dt_bias), dt_limit_min, dt_limit_max): raw [.., H]. softplus is
  /// log1p(exp(x)) to 20 and x above; the gradient through a value outside the limits is 0.
  at::Tensor step_size(const at::Tensor& raw) const;

  /// See ops/ssd.h. dt comes from step_size(), with zeros in padding.
  SsdResult window(const at::Tensor& xbc, const at::Tensor& dt, const at::Tensor& state,
                   const at::Tensor& segments) const;
  SsdResult step(const at::Tensor& xbc, const at::Tensor& dt, const at::Tensor& state) const;

 private:
  model::Mamba2Config config_;
  SsdSizes sizes_;
  Kernels kernels_ = Kernels::kNative;
  at::Tensor dt_bias_;
  at::Tensor a_log_;
  at::Tensor d_;
};

}  // namespace foxhunt::nn
