#include "foxhunt/nn/ops/mixer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <optional>
#include <vector>

#include "foxhunt/kernels/dispatch.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using kernels::Gate;
using kernels::MixerShape;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using Optional = std::optional<Tensor>;
Optional optional_of(const Tensor& t) { return t.defined() ? Optional(t) : std::nullopt; }

template <class T>
const T* data(const Tensor& t) {
  return t.defined() ? t.const_data_ptr<T>() : nullptr;
}
template <class T>
T* mutable_data(Tensor& t) {
  return t.defined() ? t.mutable_data_ptr<T>() : nullptr;
}

/// The tensors as the kernels take them: the convolution tap by tap, A from its logarithm.
template <class T>
struct Operands {
  Operands(const MixerShape& shape, const MixerTensors& t)
      : conv(static_cast<std::size_t>(shape.channels() * shape.width)), A(at(shape.ssd.heads)) {
    const T* weight = t.conv_weight.const_data_ptr<T>();
    for (std::int64_t c = 0; c < shape.channels(); ++c) {
      for (std::int64_t k = 0; k < shape.width; ++k) {
        conv[at(k * shape.channels() + c)] = weight[c * shape.width + k];
      }
    }
    const T* a_log = t.A_log.const_data_ptr<T>();
    for (std::size_t h = 0; h < A.size(); ++h) A[h] = -std::exp(a_log[h]);
    weights = {conv.data(), data<T>(t.conv_bias), data<T>(t.dt_bias),
               A.data(),    data<T>(t.D),         data<T>(t.norm)};
    batch = {t.proj.size(0),     t.proj.size(1),        data<T>(t.proj),
             shape.proj_width(), data<T>(t.conv_state), data<T>(t.ssm_state)};
    plan = kernels::plan_chunks(batch.batch, batch.tokens, shape.chunk,
                                data<std::int64_t>(t.segments), data<std::int64_t>(t.lengths));
  }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::vector<T> conv, A;
  kernels::MixerWeights<T> weights{};
  kernels::MixerBatch<T> batch{};
  kernels::ChunkPlan plan;
};

struct Saved {
  Tensor chunk_states, rstd;
};

template <class T>
MixerResult forward(const MixerShape& shape, const MixerTensors& t, bool keep, Saved& saved) {
  const Operands<T> o(shape, t);
  const at::TensorOptions options = t.proj.options();
  MixerResult result{at::empty({o.batch.batch, o.batch.tokens, shape.inner()}, options),
                     at::empty(t.conv_state.sizes(), options),
                     at::empty(t.ssm_state.sizes(), options)};
  if (keep) {
    saved.chunk_states = at::empty({o.plan.size(), kernels::state_size(shape.ssd)}, options);
    if (shape.gate != Gate::kNoNorm) {
      saved.rstd = at::empty({o.batch.batch, o.batch.tokens, shape.ssd.groups}, options);
    }
  }
  kernels::mixer_forward(kernels::default_kernels<T>(), shape, o.weights, o.plan, o.batch,
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
  const Operands<T> o(shape, t);
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
  std::vector<T> conv(o.conv.size(), T(0));
  const Tensor dout = up.out.defined()
                          ? up.out.contiguous()
                          : at::zeros({o.batch.batch, o.batch.tokens, shape.inner()}, options);
  const Tensor dconv = up.conv_next.defined() ? up.conv_next.contiguous() : Tensor();
  const Tensor dssm = up.ssm_next.defined() ? up.ssm_next.contiguous() : Tensor();
  kernels::mixer_backward(
      kernels::default_kernels<T>(), shape, o.weights, o.plan, o.batch,
      {data<T>(saved.chunk_states), data<T>(saved.rstd), data<T>(dout), data<T>(dconv),
       data<T>(dssm)},
      {mutable_data<T>(g.proj), conv.data(), mutable_data<T>(g.conv_bias),
       mutable_data<T>(g.dt_bias), mutable_data<T>(g.A_log), mutable_data<T>(g.D),
       mutable_data<T>(g.norm), mutable_data<T>(g.conv_state), mutable_data<T>(g.ssm_state)});
  T* weight = g.conv_weight.mutable_data_ptr<T>();
  for (std::int64_t c = 0; c < shape.channels(); ++c) {
    for (std::int64_t k = 0; k < shape.width; ++k) {
      weight[c * shape.width + k] = conv[o.at(k * shape.channels() + c)];
    }
  }
  T* a_log = g.A_log.mutable_data_ptr<T>();  // dA so far; A = -exp(A_log) is its own derivative
  for (std::size_t h = 0; h < o.A.size(); ++h) a_log[h] *= o.A[h];
  return g;
}

/// The sizes and options of a shape, as saved_data can hold them.
void save_shape(AutogradContext* ctx, const MixerShape& s) {
  ctx->saved_data["sizes"] = std::vector<std::int64_t>{s.ssd.heads,
                                                       s.ssd.headdim,
                                                       s.ssd.groups,
                                                       s.ssd.d_state,
                                                       s.width,
                                                       s.chunk,
                                                       static_cast<std::int64_t>(s.gate)};
  ctx->saved_data["numbers"] = std::vector<double>{s.eps, s.dt_low, s.dt_high};
}
MixerShape saved_shape(const AutogradContext* ctx) {
  const auto n = ctx->saved_data.at("sizes").toIntVector();
  const auto x = ctx->saved_data.at("numbers").toDoubleVector();
  return {{n[0], n[1], n[2], n[3]}, n[4], n[5], static_cast<Gate>(n[6]), x[0], x[1], x[2]};
}

struct MixerFunction : torch::autograd::Function<MixerFunction> {
  static variable_list forward(AutogradContext* ctx, const Tensor& proj, const Tensor& conv_weight,
                               const Optional& conv_bias, const Tensor& dt_bias,
                               const Tensor& A_log, const Optional& D, const Optional& norm,
                               const Tensor& conv_state, const Tensor& ssm_state,
                               const Optional& segments, const Optional& lengths,
                               const MixerShape& shape) {
    const auto tensor = [](const Optional& t) { return t.value_or(Tensor()); };
    const MixerTensors t{proj.contiguous(),
                         conv_weight.contiguous(),
                         tensor(conv_bias),
                         dt_bias.contiguous(),
                         A_log.contiguous(),
                         tensor(D),
                         tensor(norm),
                         conv_state.contiguous(),
                         ssm_state.contiguous(),
                         segments ? segments->contiguous() : Tensor(),
                         lengths ? lengths->contiguous() : Tensor()};
    Saved saved;
    const MixerResult r = proj.scalar_type() == at::kDouble
                              ? nn::forward<double>(shape, t, /*keep=*/true, saved)
                              : nn::forward<float>(shape, t, /*keep=*/true, saved);
    ctx->save_for_backward({t.proj, t.conv_weight, t.conv_bias, t.dt_bias, t.A_log, t.D, t.norm,
                            t.conv_state, t.ssm_state, t.segments, t.lengths, saved.chunk_states,
                            saved.rstd});
    save_shape(ctx, shape);
    ctx->saved_data["conv_state"] = conv_state.requires_grad();
    ctx->saved_data["ssm_state"] = ssm_state.requires_grad();
    ctx->set_materialize_grads(false);
    return {r.out, r.conv_next, r.ssm_next};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto v = ctx->get_saved_variables();
    const MixerTensors t{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10]};
    const MixerShape shape = saved_shape(ctx);
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
  return like.device().is_cpu() &&
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
