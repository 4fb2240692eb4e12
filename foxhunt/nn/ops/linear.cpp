#include "foxhunt/nn/ops/linear.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/kernels/linear.h"
#include "foxhunt/nn/meta_as.h"
#include "foxhunt/nn/ops/operands.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Narrower products have no whole vector to gain from and stay float32: a head of a few outputs.
constexpr std::int64_t kLeastBf16 = 16;

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
    const bool bf16 = bf16_products() && std::min(K, N) >= kLeastBf16;
    if (!x.is_meta()) {
      kernels::LinearForward(products_of(bf16), K, N, weight.const_data_ptr<float>(), rows)
          .run(rows, x.const_data_ptr<float>(), bias ? bias->const_data_ptr<float>() : nullptr,
               y.mutable_data_ptr<float>(), /*accumulate=*/false);
    }
    ctx->save_for_backward({x, weight});
    ctx->saved_data["bias"] = bias.has_value();
    ctx->saved_data["bf16"] = bf16;
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
    Tensor dx;
    if (ctx->saved_data["x"].toBool()) dx = at::empty(x.sizes(), x.options());
    const Tensor dweight = at::zeros({N, K}, weight.options());
    Tensor dbias;
    if (ctx->saved_data["bias"].toBool()) dbias = at::zeros({N}, weight.options());
    if (x.is_meta()) return {dx, dweight, dbias};
    const float* d = dy.const_data_ptr<float>();
    const kernels::LinearBackward backward(products_of(ctx->saved_data["bf16"].toBool()), K, N,
                                           weight.const_data_ptr<float>(), rows);
    if (dx.defined()) backward.input(rows, d, dx.mutable_data_ptr<float>());
    backward.weight(rows, d, x.const_data_ptr<float>(), dweight.mutable_data_ptr<float>(),
                    dbias.defined() ? dbias.mutable_data_ptr<float>() : nullptr);
    return {dx, dweight, dbias};
  }
};

}  // namespace

bool has_linear_kernel(const Tensor& x) {
  return is_cpu_or_stands_for_it(x) && x.scalar_type() == at::kFloat &&
         (bf16_products() || !at::autocast::is_autocast_enabled(at::kCPU));
}

bool bf16_products() {
  return at::autocast::is_autocast_enabled(at::kCPU) &&
         at::autocast::get_autocast_dtype(at::kCPU) == at::kBFloat16;
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return Linear::apply(x, weight, bias.defined() ? std::optional<Tensor>(bias) : std::nullopt);
}

}  // namespace foxhunt::nn
