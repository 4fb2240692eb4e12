#include "foxhunt/nn/ops/causal_conv.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <vector>

namespace foxhunt::nn {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Tap k sees the rows [k, k + T) of the input with W - 1 older rows in front; where `alive` is
/// defined, times 0 or 1.
struct Taps {
  Tensor rows;   ///< [B, T + W - 1, C]
  Tensor alive;  ///< [W, B, T, 1] or undefined
  std::int64_t width;
  std::int64_t tokens() const { return rows.size(1) - width + 1; }
  Tensor at(std::int64_t k) const { return rows.narrow(1, k, tokens()); }
};

Tensor convolve(const Taps& taps, const Tensor& weight, const Tensor& bias) {
  Tensor out;
  for (std::int64_t k = 0; k < taps.width; ++k) {
    const Tensor w = weight.select(2, k).squeeze(1);  // [C]
    const Tensor row = taps.alive.defined() ? taps.at(k) * taps.alive.select(0, k) : taps.at(k);
    if (k == 0) {
      out = bias.defined() ? at::addcmul(bias, row, w) : at::mul(row, w);
    } else {
      out.addcmul_(row, w);
    }
  }
  return out;
}

struct ConvSilu : torch::autograd::Function<ConvSilu> {
  static Tensor forward(AutogradContext* ctx, const Tensor& rows, const Tensor& weight,
                        const std::optional<Tensor>& bias, const std::optional<Tensor>& alive) {
    const Taps taps{rows, alive.value_or(Tensor()), weight.size(2)};
    const Tensor v = convolve(taps, weight, bias.value_or(Tensor()));
    ctx->save_for_backward({rows, weight, taps.alive, v});
    ctx->saved_data["bias"] = bias.has_value();
    return at::silu(v);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const Tensor& weight = saved[1];
    const Taps taps{saved[0], saved[2], weight.size(2)};
    const Tensor dv = at::silu_backward(grads[0], saved[3]);
    Tensor drows = at::zeros(taps.rows.sizes(), taps.rows.options());
    std::vector<Tensor> dweight;
    for (std::int64_t k = 0; k < taps.width; ++k) {
      const Tensor seen = taps.alive.defined() ? dv * taps.alive.select(0, k) : dv;
      drows.narrow(1, k, taps.tokens()).addcmul_(seen, weight.select(2, k).squeeze(1));
      dweight.push_back((seen * taps.at(k)).sum(at::IntArrayRef{0, 1}));
    }
    const Tensor dbias =
        ctx->saved_data["bias"].toBool() ? dv.sum(at::IntArrayRef{0, 1}) : Tensor();
    return {drows, at::stack(dweight, -1).unsqueeze(1), dbias, Tensor()};
  }
};

/// The segment of every row of [history | window]: the history belongs to segment 0.
Tensor with_history(const Tensor& segments, std::int64_t older) {
  return at::cat({at::zeros({segments.size(0), older}, segments.options()), segments}, 1);
}

}  // namespace

Tensor causal_conv_silu(const Tensor& input, const Tensor& history, const Tensor& weight,
                        const Tensor& bias, const Tensor& segments) {
  const std::int64_t width = weight.size(2);
  const Tensor older = history.narrow(2, 1, width - 1).transpose(1, 2);
  std::optional<Tensor> alive;
  if (segments.defined()) {
    const Tensor all = with_history(segments, width - 1);
    std::vector<Tensor> same;
    for (std::int64_t k = 0; k < width; ++k)
      same.push_back(all.narrow(1, k, segments.size(1)) == segments);
    alive = at::stack(same).unsqueeze(-1).to(input.scalar_type());
  }
  return ConvSilu::apply(at::cat({older, input}, 1), weight,
                         bias.defined() ? std::optional<Tensor>(bias) : std::nullopt, alive);
}

Tensor next_history(const Tensor& input, const Tensor& history, const Tensor& segments,
                    const Tensor& lengths) {
  const std::int64_t width = history.size(2);
  const std::int64_t tokens = input.size(1);
  if (!lengths.defined() && !segments.defined()) {
    const std::int64_t fresh = std::min(tokens, width);
    return at::cat({history.narrow(2, fresh, width - fresh),
                    input.narrow(1, tokens - fresh, fresh).transpose(1, 2)},
                   2);
  }
  // Rows e .. e + W - 1 of [history | window], where e is the row's length.
  const Tensor rows = at::cat({history.transpose(1, 2), input}, 1);
  const Tensor end =
      lengths.defined() ? lengths : at::zeros({input.size(0)}, segments.options()).fill_(tokens);
  const Tensor index = end.unsqueeze(1) + at::arange(width, end.options());  // [B, W]
  Tensor out = rows.gather(1, index.unsqueeze(-1).expand({-1, -1, rows.size(2)}));
  if (segments.defined()) {
    const Tensor number = with_history(segments, width).gather(1, index);
    out = out * (number == number.narrow(1, width - 1, 1)).unsqueeze(-1);
  }
  return out.transpose(1, 2).contiguous();
}

Tensor conv_silu_step(const Tensor& history, const Tensor& weight, const Tensor& bias) {
  Tensor v = (history * weight.squeeze(1)).sum(-1);
  if (bias.defined()) v = v + bias;
  return at::silu(v);
}

}  // namespace foxhunt::nn
