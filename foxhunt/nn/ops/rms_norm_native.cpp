#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/kernels/rms_norm.h"
#include "foxhunt/nn/meta_as.h"
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
    const Tensor out = at::empty(x.sizes(), x.options());
    const Tensor rstd = at::empty({x.numel() / width}, x.options());
    if (!x.is_meta())
      kernels::rms_norm_forward(kernels::default_kernels<float>(), x.numel() / width, width, eps,
                                x.const_data_ptr<float>(), weight.const_data_ptr<float>(),
                                out.mutable_data_ptr<float>(), rstd.mutable_data_ptr<float>());
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
    if (!x.is_meta())
      kernels::rms_norm_backward(kernels::default_kernels<float>(), x.numel() / width, width,
                                 x.const_data_ptr<float>(), weight.const_data_ptr<float>(),
                                 saved[2].const_data_ptr<float>(), dout.const_data_ptr<float>(),
                                 dx.mutable_data_ptr<float>(), dweight.mutable_data_ptr<float>());
    return {dx, dweight, Tensor()};
  }
};

}  // namespace

bool has_rms_norm_kernel(const Tensor& x) {
  return is_cpu_or_stands_for_it(x) && x.scalar_type() == at::kFloat;
}

Tensor rms_norm_native(const Tensor& x, const Tensor& weight, double eps) {
  return NativeRmsNorm::apply(x, weight, eps);
}

}  // namespace foxhunt::nn
