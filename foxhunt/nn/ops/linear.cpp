#include "foxhunt/nn/ops/linear.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/kernels/linear.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Linear : torch::autograd::Function<Linear> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x_in, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
    const Tensor x = x_in.contiguous();
    const std::int64_t K = weight.size(1);
    const std::int64_t N = weight.size(0);
    const std::int64_t rows = x.numel() / K;
    std::vector<std::int64_t> sizes = x.sizes().vec();
    sizes.back() = N;
    Tensor y = at::empty(sizes, x.options());
    const auto& table = kernels::default_kernels<float>();
    kernels::linear_forward(table, rows, x.const_data_ptr<float>(),
                            {table, K, N, weight.const_data_ptr<float>()},
                            bias ? bias->const_data_ptr<float>() : nullptr,
                            y.mutable_data_ptr<float>(), /*accumulate=*/false);
    ctx->save_for_backward({x, weight});
    ctx->saved_data["bias"] = bias.has_value();
    ctx->saved_data["x"] = x_in.requires_grad();
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const Tensor& x = saved[0];
    const Tensor& weight = saved[1];
    const Tensor dy = grads[0].contiguous();
    const std::int64_t K = weight.size(1);
    const std::int64_t N = weight.size(0);
    const std::int64_t rows = x.numel() / K;
    const auto& table = kernels::default_kernels<float>();
    const float* d = dy.const_data_ptr<float>();
    Tensor dx;
    if (ctx->saved_data["x"].toBool()) {
      dx = at::empty(x.sizes(), x.options());
      kernels::linear_backward_input(table, rows, K, N, d, weight.const_data_ptr<float>(),
                                     dx.mutable_data_ptr<float>());
    }
    const Tensor dweight = at::zeros({N, K}, weight.options());
    Tensor dbias;
    if (ctx->saved_data["bias"].toBool()) dbias = at::zeros({N}, weight.options());
    kernels::linear_backward_weight(table, rows, K, N, d, x.const_data_ptr<float>(),
                                    dweight.mutable_data_ptr<float>(),
                                    dbias.defined() ? dbias.mutable_data_ptr<float>() : nullptr);
    return {dx, dweight, dbias};
  }
};

}  // namespace

bool has_linear_kernel(const Tensor& x) {
  return x.device().is_cpu() && x.scalar_type() == at::kFloat &&
         !at::autocast::is_autocast_enabled(at::kCPU);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return Linear::apply(x, weight, bias.defined() ? std::optional<Tensor>(bias) : std::nullopt);
}

}  // namespace foxhunt::nn
