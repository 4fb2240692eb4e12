#pragma once
// The step size of the state space from its raw value.

#include <ATen/core/Tensor.h>

namespace foxhunt::nn {

/// clamp(softplus(raw), low, high). softplus is log1p(exp(x)) up to 20 and x above, which keeps the
/// smallest steps exact. Its gradient is the logistic function, and 0 where softplus lies outside
/// [low, high]. Differentiable once.
at::Tensor limited_softplus(const at::Tensor& raw, double low, double high);

}  // namespace foxhunt::nn
