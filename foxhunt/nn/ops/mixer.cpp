#include "foxhunt/nn/ops/mixer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/nn/meta_as.h"
#include "foxhunt/nn/ops/operands.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using kernels::ChunkPlan;
using kernels::Gate;
using kernels::MixerBatch;
using kernels::MixerShape;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Saved {
  Tensor chunk_states, rstd;
};

ChunkPlan plan_of(const MixerShape& shape, const MixerTensors& t) {
  return kernels::plan_chunks(t.proj.size(0), t.proj.size(1), shape.chunk,
                              data<std::int64_t>(t.segments), data<std::int64_t>(t.lengths));
}
template <class T>
MixerBatch<T> batch_of(const MixerShape& shape, const MixerTensors& t) {
  return {t.proj.size(0),     t.proj.size(1),        data<T>(t.proj),
          shape.proj_width(), data<T>(t.conv_state), data<T>(t.ssm_state)};
}

template <class T>
MixerResult forward(const MixerShape& shape, const MixerTensors& t, bool keep, Saved& saved) {
  const ChunkPlan plan = plan_of(shape, t);
  const at::TensorOptions options = t.proj.options();
  MixerResult result{at::empty({t.proj.size(0), t.proj.size(1), shape.inner()}, options),
                     at::empty(t.conv_state.sizes(), options),
                     at::empty(t.ssm_state.sizes(), options)};
  if (keep) {
    saved.chunk_states = at::empty({plan.size(), kernels::state_size(shape.ssd)}, options);
    if (shape.gate != Gate::kNoNorm) {
      saved.rstd = at::empty({t.proj.size(0), t.proj.size(1), shape.ssd.groups}, options);
    }
  }
  if (t.proj.is_meta()) return result;
  const MixerOperands<T> o(shape, t);
  kernels::mixer_forward(kernels::default_kernels<T>(), shape, o.weights, plan,
                         batch_of<T>(shape, t),
                         {mutable_data<T>(result.out), mutable_data<T>(result.conv_next),
                          mutable_data<T>(result.ssm_next), mutable_data<T>(saved.chunk_states),
                          mutable_data<T>(saved.rstd)});
  return result;
}

struct Upstream {
  Tensor out, conv_next, ssm_next;  ///< undefined: zero
};

template <class T>
MixerTensors backward(const MixerShape& shape, const MixerTensors& t, const Saved& saved,
                      const Upstream& up, bool conv_state, bool ssm_state) {
  const at::TensorOptions options = t.proj.options();
  const auto like = [&](const Tensor& tensor, bool wanted = true) {
    return wanted && tensor.defined() ? at::zeros(tensor.sizes(), options) : Tensor();
  };
  MixerTensors g;
  g.proj = at::empty(t.proj.sizes(), options);
  g.conv_weight = at::empty(t.conv_weight.sizes(), options);
  g.conv_bias = like(t.conv_bias);
  g.dt_bias = like(t.dt_bias);
  g.A_log = like(t.A_log);
  g.D = like(t.D);
  g.norm = like(t.norm);
  g.conv_state = like(t.conv_state, conv_state);
  g.ssm_state = like(t.ssm_state, ssm_state);
  const Tensor dout = up.out.defined()
                          ? up.out.contiguous()
                          : at::zeros({t.proj.size(0), t.proj.size(1), shape.inner()}, options);
  const Tensor dconv = up.conv_next.defined() ? up.conv_next.contiguous() : Tensor();
  const Tensor dssm = up.ssm_next.defined() ? up.ssm_next.contiguous() : Tensor();
  if (t.proj.is_meta()) return g;
  MixerOperands<T> o(shape, t);
  kernels::mixer_backward(
      kernels::default_kernels<T>(), shape, o.weights, plan_of(shape, t), batch_of<T>(shape, t),
      {data<T>(saved.chunk_states), data<T>(saved.rstd), data<T>(dout), data<T>(dconv),
       data<T>(dssm)},
      {mutable_data<T>(g.proj), o.dconv(), mutable_data<T>(g.conv_bias), mutable_data<T>(g.dt_bias),
       mutable_data<T>(g.A_log), mutable_data<T>(g.D), mutable_data<T>(g.norm),
       mutable_data<T>(g.conv_state), mutable_data<T>(g.ssm_state)});
  o.finish(mutable_data<T>(g.conv_weight), mutable_data<T>(g.A_log));
  return g;
}

struct MixerFunction : torch::autograd::Function<MixerFunction> {
  static variable_list forward(AutogradContext* ctx, const Tensor& proj, const Tensor& conv_weight,
                               const OptionalTensor& conv_bias, const Tensor& dt_bias,
                               const Tensor& A_log, const OptionalTensor& D,
                               const OptionalTensor& norm, const Tensor& conv_state,
                               const Tensor& ssm_state, const OptionalTensor& segments,
                               const OptionalTensor& lengths, const MixerShape& shape) {
    const MixerTensors t{proj.contiguous(),
                         conv_weight.contiguous(),
                         tensor_of(conv_bias),
                         dt_bias.contiguous(),
                         A_log.contiguous(),
                         tensor_of(D),
                         tensor_of(norm),
                         conv_state.contiguous(),
                         ssm_state.contiguous(),
                         contiguous_or_none(segments),
                         contiguous_or_none(lengths)};
    Saved saved;
    const MixerResult r = proj.scalar_type() == at::kDouble
                              ? nn::forward<double>(shape, t, /*keep=*/true, saved)
                              : nn::forward<float>(shape, t, /*keep=*/true, saved);
    ctx->save_for_backward({t.proj, t.conv_weight, t.conv_bias, t.dt_bias, t.A_log, t.D, t.norm,
                            t.conv_state, t.ssm_state, t.segments, t.lengths, saved.chunk_states,
                            saved.rstd});
    ctx->saved_data["sizes"] = sizes_of(shape);
    ctx->saved_data["numbers"] = numbers_of(shape);
    ctx->saved_data["conv_state"] = conv_state.requires_grad();
    ctx->saved_data["ssm_state"] = ssm_state.requires_grad();
    ctx->set_materialize_grads(false);
    return {r.out, r.conv_next, r.ssm_next};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto v = ctx->get_saved_variables();
    const MixerTensors t{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10]};
    const MixerShape shape = mixer_shape(ctx->saved_data["sizes"].toIntVector(),
                                         ctx->saved_data["numbers"].toDoubleVector());
    const Saved saved{v[11], v[12]};
    const Upstream up{grads[0], grads[1], grads[2]};
    const bool conv = ctx->saved_data["conv_state"].toBool();
    const bool ssm = ctx->saved_data["ssm_state"].toBool();
    const MixerTensors g = t.proj.scalar_type() == at::kDouble
                               ? nn::backward<double>(shape, t, saved, up, conv, ssm)
                               : nn::backward<float>(shape, t, saved, up, conv, ssm);
    return {g.proj, g.conv_weight, g.conv_bias, g.dt_bias, g.A_log,  g.D,
            g.norm, g.conv_state,  g.ssm_state, Tensor(),  Tensor(), Tensor()};
  }
};

bool wants_gradient(const MixerTensors& t) {
  if (!at::GradMode::is_enabled()) return false;
  for (const Tensor* tensor : {&t.proj, &t.conv_weight, &t.conv_bias, &t.dt_bias, &t.A_log, &t.D,
                               &t.norm, &t.conv_state, &t.ssm_state}) {
    if (tensor->defined() && tensor->requires_grad()) return true;
  }
  return false;
}

}  // namespace

bool has_mixer_kernels(const Tensor& like) {
  return is_cpu_or_stands_for_it(like) &&
         (like.scalar_type() == at::kFloat || like.scalar_type() == at::kDouble);
}

MixerResult mixer_core(const MixerShape& shape, const MixerTensors& t) {
  if (!wants_gradient(t)) {
    MixerTensors plain = t;
    for (Tensor* tensor :
         {&plain.proj, &plain.conv_state, &plain.ssm_state, &plain.segments, &plain.lengths}) {
      if (tensor->defined()) *tensor = tensor->contiguous();
    }
    Saved none;
    return t.proj.scalar_type() == at::kDouble ? nn::forward<double>(shape, plain, false, none)
                                               : nn::forward<float>(shape, plain, false, none);
  }
  const variable_list out =
      MixerFunction::apply(t.proj, t.conv_weight, optional_of(t.conv_bias), t.dt_bias, t.A_log,
                           optional_of(t.D), optional_of(t.norm), t.conv_state, t.ssm_state,
                           optional_of(t.segments), optional_of(t.lengths), shape);
  return {out[0], out[1], out[2]};
}

}  // namespace foxhunt::nn
