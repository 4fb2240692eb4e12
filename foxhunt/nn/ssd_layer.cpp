#include "foxhunt/nn/ssd_layer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/nn/device_check.h"
#include "foxhunt/nn/init.h"
#include "foxhunt/nn/ops/block.h"
#include "foxhunt/nn/ops/causal_conv.h"
#include "foxhunt/nn/ops/linear.h"
#include "foxhunt/nn/ops/mixer.h"
#include "foxhunt/nn/ops/rms_norm.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using model::GateNorm;

std::string owner_name(std::int64_t layer_id) {
  return fmt::format("backbone.layers.{}.mixer", layer_id);
}

/// Behind in_proj everything runs in the state's dtype, also under autocast: decays and states are
/// never narrower.
struct NoAutocast {
  c10::impl::ExcludeDispatchKeyGuard guard{c10::autocast_dispatch_keyset};
};

void check_layer_state(std::string_view who, const LayerState& state, const model::Mamba2Config& c,
                       std::int64_t batch, at::Device device, at::ScalarType dtype,
                       const std::string& owner) {
  check_device(who, "state.conv", state.conv, owner, device);
  check_device(who, "state.ssm", state.ssm, owner, device);
  check_shape(who, "state.conv", state.conv, {batch, c.conv_channels(), c.d_conv});
  check_shape(who, "state.ssm", state.ssm, {batch, c.n_heads(), c.headdim, c.d_state});
  if (state.conv.scalar_type() != dtype || state.ssm.scalar_type() != dtype) {
    throw ShapeError(fmt::format(
        "[{}] the state is {} and {}, but {} is {}", who, at::toString(state.conv.scalar_type()),
        at::toString(state.ssm.scalar_type()), owner, at::toString(dtype)));
  }
}

}  // namespace

SSDLayer::SSDLayer(const model::Mamba2Config& config, std::int64_t layer_id, at::Device device,
                   at::ScalarType dtype)
    : config_(config), layer_id_(layer_id), device_(device), dtype_(dtype) {
  config.validate();
  if (layer_id < 0 || layer_id >= config.n_layer) {
    throw ConfigError(
        fmt::format("[ssd_layer] layer_id = {} is outside [0, {}]", layer_id, config.n_layer - 1));
  }
  if (dtype != at::kFloat && dtype != at::kDouble) {
    throw ConfigError(fmt::format("[ssd_layer] dtype {}, but parameters are Float or Double",
                                  at::toString(dtype)));
  }
  const auto options = at::TensorOptions(device).dtype(dtype);
  const auto per_head = [&](const char* name) {
    return register_parameter(name, at::empty({config.n_heads()}, options));
  };
  dt_bias = per_head("dt_bias");
  A_log = per_head("A_log");
  if (config.has_d) D = per_head("D");
  in_proj = register_module("in_proj",
                            std::make_shared<LinearPart>(config.d_model, config.in_proj_width(),
                                                         config.proj_bias, options));
  conv1d = register_module(
      "conv1d",
      std::make_shared<ConvPart>(config.conv_channels(), config.d_conv, config.conv_bias, options));
  if (config.gate_norm != GateNorm::kNone) {
    norm = register_module("norm", std::make_shared<NormPart>(config.d_inner(), options));
  }
  out_proj = register_module(
      "out_proj",
      std::make_shared<LinearPart>(config.d_inner(), config.d_model, config.proj_bias, options));
  core_ = std::make_unique<SelectiveStateSpace>(config, dt_bias, A_log, D);
  initialise(Rng(0));
}

void SSDLayer::initialise(const Rng& rng) {
  const Rng own = rng.split(fmt::format("layer {}", layer_id_));
  const auto inverse_root = [](std::int64_t n) { return 1.0 / std::sqrt(static_cast<double>(n)); };
  fill_uniform(in_proj->weight, own.split("in_proj.weight"), inverse_root(config_.d_model));
  fill_constant(in_proj->bias, 0.0);
  fill_uniform(conv1d->weight, own.split("conv1d.weight"), inverse_root(config_.d_conv));
  fill_uniform(conv1d->bias, own.split("conv1d.bias"), inverse_root(config_.d_conv));
  Rng steps = own.split("dt_bias");
  fill(dt_bias, [&] {  // the inverse softplus of a step size that is uniform in its logarithm
    const double dt =
        std::exp(steps.uniform(std::log(config_.dt_init_min), std::log(config_.dt_init_max)));
    const double floored = std::max(dt, config_.dt_init_floor);
    return floored + std::log(-std::expm1(-floored));
  });
  Rng decays = own.split("A_log");
  fill(A_log, [&] { return std::log(decays.uniform(config_.a_init_min, config_.a_init_max)); });
  fill_constant(D, 1.0);
  if (norm) fill_constant(norm->weight, 1.0);
  fill_uniform(out_proj->weight, own.split("out_proj.weight"),
               inverse_root(config_.d_inner()) * inverse_root(config_.n_layer));
  fill_constant(out_proj->bias, 0.0);
}

Kernels SSDLayer::kernels_in_use() const {
  if (device_.is_cpu()) return native(nullptr) ? Kernels::kNative : Kernels::kAten;
  const Tensor probe = at::empty({0}, at::TensorOptions(device_).dtype(dtype_));
  return core_->kernels_for(probe, probe, probe);
}

void SSDLayer::check_input(const Tensor& u, std::int64_t dims, std::string_view who) const {
  if (dims == 3) {
    check_shape(who, "u", u, {-1, -1, config_.d_model});
  } else {
    check_shape(who, "u", u, {-1, config_.d_model});
  }
  check_device(who, "u", u, owner_name(layer_id_), device_);
  for (std::int64_t d = 0; d + 1 < dims; ++d) {
    if (u.size(d) < 1)
      throw ShapeError(fmt::format("[{}] u has no {}", who, d == 0 ? "rows" : "tokens"));
  }
}

SSDLayer::Projected SSDLayer::project(const Tensor& u) const {
  const Tensor all = (*in_proj)(u);
  const std::vector<Tensor> parts =
      all.split_with_sizes({config_.d_inner(), config_.conv_channels(), config_.n_heads()}, -1);
  return {parts[0].to(dtype_), parts[1].to(dtype_), parts[2].to(dtype_)};
}

void SSDLayer::use_kernels(Kernels kernels) {
  kernels_ = in_proj->kernels = out_proj->kernels = kernels;
  core_->use_kernels(kernels);
}

bool SSDLayer::native(const LayerTrace* trace) const {
  return kernels_ == Kernels::kNative && trace == nullptr && has_mixer_kernels(A_log);
}

kernels::MixerShape mixer_shape(const model::Mamba2Config& config) {
  static constexpr kernels::Gate kGates[] = {kernels::Gate::kGateFirst, kernels::Gate::kNormFirst,
                                             kernels::Gate::kNoNorm};
  return {{config.n_heads(), config.headdim, config.ngroups, config.d_state},
          config.d_conv,
          config.chunk(),
          kGates[static_cast<std::size_t>(config.gate_norm)],
          config.norm_eps,
          config.dt_limit_min,
          config.dt_limit_max};
}

MixerTensors SSDLayer::mixer_tensors(const LayerState& before, const PreparedMarks& marks) const {
  return {Tensor(),
          conv1d->weight,
          conv1d->bias,
          dt_bias,
          A_log,
          D,
          norm ? norm->weight : Tensor(),
          before.conv,
          before.ssm,
          marks.segments,
          marks.lengths};
}

/// From in_proj's output to out_proj's input by the CPU kernels.
Tensor SSDLayer::mix(const Tensor& proj, const LayerState& before, LayerState* after,
                     const PreparedMarks& marks) const {
  MixerTensors tensors = mixer_tensors(before, marks);
  tensors.proj = proj;
  const MixerResult r = mixer_core(mixer_shape(config_), tensors);
  if (after != nullptr) *after = {r.conv_next, r.ssm_next};
  return r.out;
}

Tensor SSDLayer::residual_block(const Tensor& residual, const Tensor& norm_weight,
                                LayerState* state, const PreparedMarks& marks) {
  const bool padded_bias = marks.lengths.defined() && config_.proj_bias;
  if (!native(nullptr) || !has_linear_kernel(residual) || padded_bias) return {};
  if (state != nullptr) {
    check_layer_state("ssd_layer.residual_block", *state, config_, residual.size(0), device_,
                      dtype_, owner_name(layer_id_));
  }
  const BlockTensors tensors{residual,
                             norm_weight,
                             in_proj->weight,
                             in_proj->bias,
                             out_proj->weight,
                             out_proj->bias,
                             mixer_tensors(state != nullptr ? *state : LayerState{}, marks)};
  const MixerResult r =
      block({config_.d_model, config_.norm_eps, mixer_shape(config_)}, tensors, state != nullptr);
  if (state != nullptr) *state = {r.conv_next, r.ssm_next};
  return r.out;
}

Tensor SSDLayer::gate(const Tensor& y, const Tensor& z) const {
  const Tensor open = at::silu(z);
  switch (config_.gate_norm) {
    case GateNorm::kGateFirst:
      return rms_norm(y * open, norm->weight, config_.norm_eps, config_.ngroups);
    case GateNorm::kNormFirst:
      return rms_norm(y, norm->weight, config_.norm_eps, config_.ngroups) * open;
    case GateNorm::kNone:
      break;
  }
  return y * open;
}

Tensor SSDLayer::forward(const Tensor& u, LayerState* state, const WindowMarks& marks,
                         LayerTrace* trace) {
  check_input(u, 3, "ssd_layer.forward");
  return forward_prepared(u, state,
                          prepare_marks(marks, u.size(0), u.size(1), device_, "ssd_layer.forward",
                                        owner_name(layer_id_)),
                          trace);
}

Tensor SSDLayer::forward_prepared(const Tensor& u, LayerState* state, const PreparedMarks& marks,
                                  LayerTrace* trace) {
  check_input(u, 3, "ssd_layer.forward");
  LayerState before;
  if (state != nullptr) {
    check_layer_state("ssd_layer.forward", *state, config_, u.size(0), device_, dtype_,
                      owner_name(layer_id_));
    before = *state;
  } else {
    const auto options = at::TensorOptions(device_).dtype(dtype_);
    before.conv = at::zeros({u.size(0), config_.conv_channels(), config_.d_conv}, options);
    before.ssm =
        at::zeros({u.size(0), config_.n_heads(), config_.headdim, config_.d_state}, options);
  }
  if (native(trace)) {
    const Tensor proj = (*in_proj)(marks.without_padding(u)).to(dtype_);
    const Tensor gated = mix(proj, before, state, marks);
    return marks.without_padding((*out_proj)(gated));
  }
  const Projected in = project(marks.without_padding(u));
  Tensor gated;
  {
    const NoAutocast guard;
    const Tensor xbc =
        causal_conv_silu(in.xbc, before.conv, conv1d->weight, conv1d->bias, marks.segments);
    const Tensor dt = marks.without_padding(core_->step_size(in.dt));
    const SsdResult core = core_->window(xbc, dt, before.ssm, marks.segments);
    if (state != nullptr) {
      *state = {next_history(in.xbc, before.conv, marks.segments, marks.lengths), core.state};
    }
    if (trace != nullptr) *trace = {marks.without_padding(core.y), dt, Tensor(), xbc};
    gated = gate(core.y.flatten(2), in.z);
  }
  return marks.without_padding((*out_proj)(gated));
}

Tensor SSDLayer::step(const Tensor& u, LayerState& state, LayerTrace* trace) {
  check_input(u, 2, "ssd_layer.step");
  check_layer_state("ssd_layer.step", state, config_, u.size(0), device_, dtype_,
                    owner_name(layer_id_));
  if (native(trace)) {
    const Tensor proj = (*in_proj)(u).to(dtype_).unsqueeze(1);
    return (*out_proj)(mix(proj, state, &state, {}).squeeze(1));
  }
  const Projected in = project(u);
  Tensor gated;
  {
    const NoAutocast guard;
    const Tensor history =
        at::cat({state.conv.narrow(2, 1, config_.d_conv - 1), in.xbc.unsqueeze(-1)}, 2);
    const Tensor xbc = conv_silu_step(history, conv1d->weight, conv1d->bias);
    const Tensor dt = core_->step_size(in.dt);
    const SsdResult core = core_->step(xbc, dt, state.ssm);
    state = {history, core.state};
    if (trace != nullptr) *trace = {core.y, dt, Tensor(), xbc};
    gated = gate(core.y.flatten(1), in.z);
  }
  return (*out_proj)(gated);
}

}  // namespace foxhunt::nn
