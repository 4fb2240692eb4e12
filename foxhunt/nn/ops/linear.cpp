#include "foxhunt/nn/ops/linear.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "foxhunt/kernels/dispatch.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using kernels::GemmArgs;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Products over many rows run piece by piece, so that a piece of both sides stays in the cache.
constexpr std::int64_t kDepth = 512;

struct Linear : torch::autograd::Function<Linear> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x_in, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
    const Tensor x = x_in.contiguous();
    const std::int64_t K = weight.size(1);
    const std::int64_t N = weight.size(0);
    const std::int64_t rows = x.numel() / K;
    const auto& table = kernels::default_kernels<float>();
    const Tensor turned = at::empty({K, N}, weight.options());
    table.transpose(N, K, weight.const_data_ptr<float>(), K, turned.mutable_data_ptr<float>(), N);
    std::vector<std::int64_t> sizes = x.sizes().vec();
    sizes.back() = N;
    const Tensor y = at::empty(sizes, x.options());
    float* to = y.mutable_data_ptr<float>();
    if (bias) {
      const float* b = bias->const_data_ptr<float>();
      for (std::int64_t r = 0; r < rows; ++r) std::copy_n(b, N, to + r * N);
    }
    table.gemm({rows, N, K, x.const_data_ptr<float>(), K, 1, turned.const_data_ptr<float>(), N, to,
                N, bias.has_value()});
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
      table.gemm({rows, K, N, d, N, 1, weight.const_data_ptr<float>(), K,
                  dx.mutable_data_ptr<float>(), K, false});
    }
    const Tensor dweight = at::empty({N, K}, weight.options());
    Tensor dbias;
    if (ctx->saved_data["bias"].toBool()) dbias = at::empty({N}, weight.options());
    const float one = 1.0F;
    for (std::int64_t from = 0; from < std::max<std::int64_t>(rows, 1); from += kDepth) {
      const std::int64_t depth = std::min(kDepth, rows - from);
      table.gemm({N, K, depth, d + from * N, 1, N, x.const_data_ptr<float>() + from * K, K,
                  dweight.mutable_data_ptr<float>(), K, from > 0});
      if (dbias.defined()) {
        table.gemm({1, N, depth, &one, 0, 0, d + from * N, N, dbias.mutable_data_ptr<float>(), N,
                    from > 0});
      }
    }
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
