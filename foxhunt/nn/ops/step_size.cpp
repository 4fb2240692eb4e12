// An autograd function of its own because the gradients of LibTorch's clamp, clamp_min and
// clamp_max have no form on the meta device, on which a whole training step is audited.
#include "foxhunt/nn/ops/step_size.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/softplus_backward.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

namespace foxhunt::nn {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr double kBeta = 1.0;
constexpr double kIdentityAbove = 20.0;

struct LimitedSoftplus : torch::autograd::Function<LimitedSoftplus> {
  static Tensor forward(AutogradContext* ctx, const Tensor& raw, double low, double high) {
    ctx->save_for_backward({raw});
    ctx->saved_data["low"] = low;
    ctx->saved_data["high"] = high;
    return at::softplus(raw, kBeta, kIdentityAbove).clamp_(low, high);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const Tensor raw = ctx->get_saved_variables()[0];
    const double low = ctx->saved_data["low"].toDouble();
    const double high = ctx->saved_data["high"].toDouble();
    Tensor grad = at::softplus_backward(grads[0], raw, kBeta, kIdentityAbove);
    if (low > 0.0 || !std::isinf(high)) {
      const Tensor step = at::softplus(raw, kBeta, kIdentityAbove);
      grad.masked_fill_((step < low).bitwise_or_(step > high), 0.0);
    }
    return {grad, Tensor(), Tensor()};
  }
};

}  // namespace

Tensor limited_softplus(const Tensor& raw, double low, double high) {
  return LimitedSoftplus::apply(raw, low, high);
}

}  // namespace foxhunt::nn
