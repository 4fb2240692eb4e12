#include "foxhunt/nn/ops/ssd.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "foxhunt/nn/ops/ssd_chunks.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using Optional = std::optional<Tensor>;
Optional optional_of(const Tensor& t) { return t.defined() ? Optional(t) : std::nullopt; }

/// One block of equal chunks under autograd.
struct SsdBlock : torch::autograd::Function<SsdBlock> {
  static variable_list forward(AutogradContext* ctx, const Tensor& xbc, const Tensor& dt,
                               const Tensor& A, const Optional& D, const Tensor& state,
                               const Optional& segments, const Optional& before,
                               const ChunkShape& shape) {
    const Tensor seg = segments.value_or(Tensor());
    const Tensor first = before.value_or(Tensor());
    const Tensor skip = D.value_or(Tensor());
    const ChunkDecays decays = make_decays(shape, dt, A, seg, first);
    ChunkForward result = chunks_forward(shape, decays, xbc, dt, skip, state);
    ctx->save_for_backward({xbc, dt, A, skip, seg, first, result.enter});
    const SsdSizes& z = shape.sizes;
    ctx->saved_data["shape"] = std::vector<std::int64_t>{
        z.heads, z.headdim, z.groups, z.d_state, shape.batch, shape.count, shape.length};
    return {result.y, result.state};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const auto n = ctx->saved_data["shape"].toIntVector();
    const ChunkShape shape{{n[0], n[1], n[2], n[3]}, n[4], n[5], n[6]};
    const Tensor& enter = saved[6];
    const Tensor dy =
        grads[0].defined() ? grads[0] : at::zeros({n[4], n[5] * n[6], n[0], n[1]}, enter.options());
    const Tensor dstate =
        grads[1].defined() ? grads[1] : at::zeros({n[4], n[0], n[1], n[3]}, enter.options());
    const ChunkDecays decays = make_decays(shape, saved[1], saved[2], saved[4], saved[5]);
    const ChunkGradients g =
        chunks_backward(shape, decays, saved[0], saved[1], saved[2], saved[3], enter, dy, dstate);
    return {g.xbc, g.dt, g.A, g.D, g.state, Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

SsdResult ssd_window(const SsdSizes& sizes, const Tensor& xbc, const Tensor& dt, const Tensor& A,
                     const Tensor& D, const Tensor& state, const Tensor& segments,
                     std::int64_t chunk) {
  const std::int64_t tokens = xbc.size(1);
  const std::int64_t whole = tokens / chunk;
  SsdResult result{Tensor(), state};
  std::vector<Tensor> parts;
  const auto run = [&](std::int64_t start, std::int64_t count, std::int64_t length) {
    const std::int64_t size = count * length;
    Optional seg;
    Optional before;
    if (segments.defined()) {
      seg = segments.narrow(1, start, size);
      before =
          start == 0 ? at::zeros({xbc.size(0)}, segments.options()) : segments.select(1, start - 1);
    }
    const ChunkShape shape{sizes, xbc.size(0), count, length};
    const variable_list out = SsdBlock::apply(xbc.narrow(1, start, size), dt.narrow(1, start, size),
                                              A, optional_of(D), result.state, seg, before, shape);
    parts.push_back(out[0]);
    result.state = out[1];
  };
  if (whole > 0) run(0, whole, chunk);
  if (tokens > whole * chunk) run(whole * chunk, 1, tokens - whole * chunk);
  result.y = parts.size() == 1 ? parts[0] : at::cat(parts, 1);
  return result;
}

SsdResult ssd_step(const SsdSizes& z, const Tensor& xbc, const Tensor& dt, const Tensor& A,
                   const Tensor& D, const Tensor& state) {
  const std::int64_t inner = z.heads * z.headdim;
  const std::int64_t r = z.heads / z.groups;
  const Tensor x = xbc.narrow(1, 0, inner).unflatten(1, {z.groups, r * z.headdim});  // [B,G,rP]
  const Tensor B =
      xbc.narrow(1, inner, z.groups * z.d_state).unflatten(1, {z.groups, z.d_state});  // [B,G,N]
  const Tensor C = xbc.narrow(1, inner + z.groups * z.d_state, z.groups * z.d_state)
                       .unflatten(1, {z.groups, -1});
  const auto per_channel = [&](const Tensor& t) {  // [.., H] -> [.., G, r P]
    return t.unsqueeze(-1)
        .expand({-1, -1, z.headdim})
        .flatten(1)
        .unflatten(1, {z.groups, r * z.headdim});
  };
  const Tensor decay = (dt * A).exp().unsqueeze(-1).unsqueeze(-1);             // [B,H,1,1]
  const Tensor input = (per_channel(dt) * x).unsqueeze(-1) * B.unsqueeze(-2);  // [B,G,rP,N]
  SsdResult result;
  result.state = at::addcmul(input.view(state.sizes()), decay, state);
  const Tensor grouped = result.state.view({-1, z.groups, r * z.headdim, z.d_state});
  result.y = at::matmul(grouped, C.unsqueeze(-1)).view({-1, z.heads, z.headdim});
  if (D.defined()) result.y = at::addcmul(result.y, x.reshape(result.y.sizes()), D.unsqueeze(-1));
  return result;
}

}  // namespace foxhunt::nn
