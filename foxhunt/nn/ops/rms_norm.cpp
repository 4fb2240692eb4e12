#include "foxhunt/nn/ops/rms_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/mul.h>
#include <torch/csrc/autograd/custom_function.h>

namespace foxhunt::nn {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& weight, double eps,
                        std::int64_t groups) {
    const Tensor grouped = x.unflatten(-1, {groups, -1});
    const Tensor rstd = (grouped * grouped).mean(-1, /*keepdim=*/true).add_(eps).rsqrt_();
    ctx->save_for_backward({x, weight, rstd});
    ctx->saved_data["groups"] = groups;
    return (grouped * rstd).flatten(-2).mul_(weight);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const Tensor& weight = saved[1];
    const Tensor& rstd = saved[2];
    const std::int64_t groups = ctx->saved_data["groups"].toInt();
    const Tensor normal = saved[0].unflatten(-1, {groups, -1}) * rstd;
    const Tensor dnormal = (grads[0] * weight).unflatten(-1, {groups, -1});
    const Tensor overlap = (normal * dnormal).mean(-1, /*keepdim=*/true);
    const Tensor dx = at::addcmul(dnormal, normal, overlap, -1).mul_(rstd).flatten(-2);
    const Tensor dweight = (grads[0] * normal.flatten(-2)).flatten(0, -2).sum(0);
    return {dx, dweight, Tensor(), Tensor()};
  }
};

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps, std::int64_t groups) {
  return RmsNorm::apply(x, weight, eps, groups);
}

}  // namespace foxhunt::nn
