#pragma once
// A part of the graph that keeps nothing but its input and is computed again in the backward pass.

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace foxhunt::nn {

/// f(x) with gradients to x and to `parameters`, every tensor with a gradient that f reads beside
/// x. f runs once now without a graph and once more in the backward pass, under the autocast of
/// now: the same operations on the same numbers, so the gradients are those of f itself. What f
/// refers to must live until then, and its weights must not have changed.
/// Without gradients it is f(x).
at::Tensor recomputed(const at::Tensor& x, const std::vector<at::Tensor>& parameters,
                      std::function<at::Tensor(const at::Tensor&)> f);

}  // namespace foxhunt::nn
