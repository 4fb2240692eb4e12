#include "foxhunt/nn/ops/block.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include "foxhunt/nn/ops/linear.h"
#include "foxhunt/nn/ops/operands.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using kernels::BlockShape;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Saved {
  Tensor proj, mixed, rstd, mixer_rstd, chunk_states;

  kernels::BlockSaved<float> pointers() const {
    return {mutable_data<float>(proj), mutable_data<float>(mixed), mutable_data<float>(rstd),
            mutable_data<float>(mixer_rstd), mutable_data<float>(chunk_states)};
  }
};

kernels::BlockBatch<float> batch_of(const BlockTensors& t, const MixerResult& next) {
  return {t.x.size(0),
          t.x.size(1),
          data<float>(t.x),
          data<std::int64_t>(t.mixer.segments),
          data<std::int64_t>(t.mixer.lengths),
          {data<float>(t.mixer.conv_state), data<float>(t.mixer.ssm_state),
           mutable_data<float>(next.conv_next), mutable_data<float>(next.ssm_next)}};
}

kernels::BlockWeights<float> weights_of(const BlockTensors& t, const MixerOperands<float>& mixer) {
  return {data<float>(t.norm), data<float>(t.in_proj),  data<float>(t.in_bias),
          mixer.weights,       data<float>(t.out_proj), data<float>(t.out_bias)};
}

MixerResult forward(const BlockShape& shape, const BlockTensors& t, bool bf16, bool states,
                    bool keep, Saved& saved) {
  const at::TensorOptions options = t.x.options().requires_grad(false);
  const std::int64_t B = t.x.size(0);
  const std::int64_t T = t.x.size(1);
  const kernels::MixerShape& m = shape.mixer;
  saved.proj = at::empty({B, T, m.proj_width()}, options);
  saved.mixed = at::empty({B, T, m.inner()}, options);
  saved.rstd = at::empty({B, T}, options);
  if (m.gate != kernels::Gate::kNoNorm) {
    saved.mixer_rstd = at::empty({B, T, m.ssd.groups}, options);
  }
  if (keep) {
    const std::int64_t chunks =
        kernels::plan_chunks(B, T, m.chunk, data<std::int64_t>(t.mixer.segments),
                             data<std::int64_t>(t.mixer.lengths))
            .size();
    saved.chunk_states = at::empty({chunks, kernels::state_size(m.ssd)}, options);
  }
  MixerResult r{at::empty(t.x.sizes(), options), Tensor(), Tensor()};
  if (states) {
    r.conv_next = at::empty({B, m.channels(), m.width}, options);
    r.ssm_next = at::empty({B, m.ssd.heads, m.ssd.headdim, m.ssd.d_state}, options);
  }
  if (t.x.is_meta()) return r;
  const MixerOperands<float> mixer(shape.mixer, t.mixer);
  kernels::block_forward(products_of(bf16), shape, weights_of(t, mixer), batch_of(t, r),
                         saved.pointers(), mutable_data<float>(r.out));
  return r;
}

struct Upstream {
  Tensor out, conv_next, ssm_next;  ///< undefined: zero
};

/// Gradients in the tensors' own places; undefined where there is nothing to have one.
BlockTensors backward(const BlockShape& shape, const BlockTensors& t, bool bf16, const Saved& saved,
                      const Upstream& up, bool conv_state, bool ssm_state) {
  const auto like = [](const Tensor& tensor, bool wanted = true) {
    return wanted && tensor.defined() ? at::zeros(tensor.sizes(), tensor.options()) : Tensor();
  };
  BlockTensors g;
  g.x = at::empty(t.x.sizes(), t.x.options());
  g.norm = like(t.norm);
  g.in_proj = like(t.in_proj);
  g.in_bias = like(t.in_bias);
  g.out_proj = like(t.out_proj);
  g.out_bias = like(t.out_bias);
  MixerTensors& m = g.mixer;
  m.conv_weight = like(t.mixer.conv_weight);
  m.conv_bias = like(t.mixer.conv_bias);
  m.dt_bias = like(t.mixer.dt_bias);
  m.A_log = like(t.mixer.A_log);
  m.D = like(t.mixer.D);
  m.norm = like(t.mixer.norm);
  m.conv_state = like(t.mixer.conv_state, conv_state);
  m.ssm_state = like(t.mixer.ssm_state, ssm_state);
  const Tensor dout =
      up.out.defined() ? up.out.contiguous() : at::zeros(t.x.sizes(), t.x.options());
  const Tensor dconv = up.conv_next.defined() ? up.conv_next.contiguous() : Tensor();
  const Tensor dssm = up.ssm_next.defined() ? up.ssm_next.contiguous() : Tensor();
  if (t.x.is_meta()) return g;
  MixerOperands<float> mixer(shape.mixer, t.mixer);
  kernels::block_backward(
      products_of(bf16), shape, weights_of(t, mixer), batch_of(t, {}), saved.pointers(),
      {data<float>(dout), data<float>(dconv), data<float>(dssm)},
      {mutable_data<float>(g.norm), mutable_data<float>(g.in_proj), mutable_data<float>(g.in_bias),
       mixer.dconv(), mutable_data<float>(m.conv_bias), mutable_data<float>(m.dt_bias),
       mutable_data<float>(m.A_log), mutable_data<float>(m.D), mutable_data<float>(m.norm),
       mutable_data<float>(g.out_proj), mutable_data<float>(g.out_bias), mutable_data<float>(g.x),
       mutable_data<float>(m.conv_state), mutable_data<float>(m.ssm_state)});
  mixer.finish(mutable_data<float>(m.conv_weight), mutable_data<float>(m.A_log));
  return g;
}

struct BlockFunction : torch::autograd::Function<BlockFunction> {
  static variable_list forward(AutogradContext* ctx, const Tensor& x, const Tensor& norm,
                               const Tensor& in_proj, const OptionalTensor& in_bias,
                               const Tensor& out_proj, const OptionalTensor& out_bias,
                               const Tensor& conv_weight, const OptionalTensor& conv_bias,
                               const Tensor& dt_bias, const Tensor& A_log, const OptionalTensor& D,
                               const OptionalTensor& gate, const OptionalTensor& conv_state,
                               const OptionalTensor& ssm_state, const OptionalTensor& segments,
                               const OptionalTensor& lengths, const BlockShape& shape,
                               bool want_states) {
    const BlockTensors t{
        x.contiguous(),
        norm,
        in_proj,
        tensor_of(in_bias),
        out_proj,
        tensor_of(out_bias),
        {Tensor(), conv_weight, tensor_of(conv_bias), dt_bias, A_log, tensor_of(D), tensor_of(gate),
         contiguous_or_none(conv_state), contiguous_or_none(ssm_state),
         contiguous_or_none(segments), contiguous_or_none(lengths)}};
    const bool bf16 = bf16_products();
    Saved s;
    const MixerResult r = nn::forward(shape, t, bf16, want_states, /*keep=*/true, s);
    const MixerTensors& m = t.mixer;
    ctx->save_for_backward(
        {t.x,         t.norm,    t.in_proj, t.in_bias, t.out_proj, t.out_bias,   m.conv_weight,
         m.conv_bias, m.dt_bias, m.A_log,   m.D,       m.norm,     m.conv_state, m.ssm_state,
         m.segments,  m.lengths, s.proj,    s.mixed,   s.rstd,     s.mixer_rstd, s.chunk_states});
    ctx->saved_data["sizes"] = sizes_of(shape.mixer);
    ctx->saved_data["numbers"] = numbers_of(shape.mixer);
    ctx->saved_data["bf16"] = bf16;
    ctx->saved_data["d_model"] = shape.d_model;
    ctx->saved_data["norm_eps"] = shape.norm_eps;
    ctx->saved_data["conv_state"] = conv_state && conv_state->requires_grad();
    ctx->saved_data["ssm_state"] = ssm_state && ssm_state->requires_grad();
    ctx->set_materialize_grads(false);
    if (!want_states) return {r.out};
    return {r.out, r.conv_next, r.ssm_next};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto v = ctx->get_saved_variables();
    const BlockTensors t{
        v[0],
        v[1],
        v[2],
        v[3],
        v[4],
        v[5],
        {Tensor(), v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14], v[15]}};
    const Saved saved{v[16], v[17], v[18], v[19], v[20]};
    const BlockShape shape{ctx->saved_data["d_model"].toInt(),
                           ctx->saved_data["norm_eps"].toDouble(),
                           mixer_shape(ctx->saved_data["sizes"].toIntVector(),
                                       ctx->saved_data["numbers"].toDoubleVector())};
    const Upstream up{grads[0], grads.size() > 1 ? grads[1] : Tensor(),
                      grads.size() > 2 ? grads[2] : Tensor()};
    const BlockTensors g =
        nn::backward(shape, t, ctx->saved_data["bf16"].toBool(), saved, up,
                     ctx->saved_data["conv_state"].toBool(), ctx->saved_data["ssm_state"].toBool());
    const MixerTensors& m = g.mixer;
    return {g.x,           g.norm,      g.in_proj, g.in_bias, g.out_proj, g.out_bias,
            m.conv_weight, m.conv_bias, m.dt_bias, m.A_log,   m.D,        m.norm,
            m.conv_state,  m.ssm_state, Tensor(),  Tensor(),  Tensor(),   Tensor()};
  }
};

}  // namespace

MixerResult block(const BlockShape& shape, const BlockTensors& t, bool want_states) {
  const MixerTensors& m = t.mixer;
  if (!at::GradMode::is_enabled()) {
    BlockTensors plain = t;
    plain.x = t.x.contiguous();
    for (Tensor* tensor : {&plain.mixer.conv_state, &plain.mixer.ssm_state, &plain.mixer.segments,
                           &plain.mixer.lengths}) {
      if (tensor->defined()) *tensor = tensor->contiguous();
    }
    Saved none;
    return nn::forward(shape, plain, bf16_products(), want_states, /*keep=*/false, none);
  }
  const variable_list out = BlockFunction::apply(
      t.x, t.norm, t.in_proj, optional_of(t.in_bias), t.out_proj, optional_of(t.out_bias),
      m.conv_weight, optional_of(m.conv_bias), m.dt_bias, m.A_log, optional_of(m.D),
      optional_of(m.norm), optional_of(m.conv_state), optional_of(m.ssm_state),
      optional_of(m.segments), optional_of(m.lengths), shape, want_states);
  if (!want_states) return {out[0], Tensor(), Tensor()};
  return {out[0], out[1], out[2]};
}

}  // namespace foxhunt::nn
