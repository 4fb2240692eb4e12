#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/nn/ops/rms_norm.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct NativeRmsNorm : torch::autograd::Function<NativeRmsNorm> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x_in, const Tensor& weight,
                        double eps) {
    const Tensor x = x_in.contiguous();
    const std::int64_t width = weight.size(0);
    const std::int64_t rows = x.numel() / width;
    const Tensor out = at::empty(x.sizes(), x.options());
    const Tensor rstd = at::empty({rows}, x.options());
    kernels::default_kernels<float>().gate_norm_forward(
        {rows, width, 1, kernels::Gate::kGateFirst, static_cast<float>(eps),
         x.const_data_ptr<float>(), width, nullptr, 0, weight.const_data_ptr<float>(),
         out.mutable_data_ptr<float>(), width, rstd.mutable_data_ptr<float>()});
    ctx->save_for_backward({x, weight, rstd});
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const Tensor& x = saved[0];
    const Tensor& weight = saved[1];
    const Tensor dout = grads[0].contiguous();
    const std::int64_t width = weight.size(0);
    const Tensor dx = at::empty(x.sizes(), x.options());
    const Tensor dweight = at::zeros({width}, x.options());
    kernels::default_kernels<float>().gate_norm_backward(
        {x.numel() / width, width, 1, kernels::Gate::kGateFirst, x.const_data_ptr<float>(), width,
         nullptr, 0, weight.const_data_ptr<float>(), saved[2].const_data_ptr<float>(),
         dout.const_data_ptr<float>(), width, dx.mutable_data_ptr<float>(), width, nullptr, 0,
         dweight.mutable_data_ptr<float>()});
    return {dx, dweight, Tensor()};
  }
};

}  // namespace

bool has_rms_norm_kernel(const Tensor& x) {
  return x.device().is_cpu() && x.scalar_type() == at::kFloat;
}

Tensor rms_norm_native(const Tensor& x, const Tensor& weight, double eps) {
  return NativeRmsNorm::apply(x, weight, eps);
}

}  // namespace foxhunt::nn
