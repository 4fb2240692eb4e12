#pragma once
// Initial values, drawn on the host from an explicit generator and copied to where the tensor lies:
// the same on every device, and in float64 models the float32 numbers. Nothing happens to a tensor
// on the meta device.

#include <ATen/core/Tensor.h>

#include <functional>

#include "foxhunt/base/rng.h"

namespace foxhunt::nn {

/// Every value from `draw`, in row-major order. An undefined tensor is left alone.
void fill(const at::Tensor& tensor, const std::function<double()>& draw);

void fill_constant(const at::Tensor& tensor, double value);
/// U(-bound, bound).
void fill_uniform(const at::Tensor& tensor, Rng rng, double bound);
/// N(0, deviation^2).
void fill_normal(const at::Tensor& tensor, Rng rng, double deviation);

}  // namespace foxhunt::nn
