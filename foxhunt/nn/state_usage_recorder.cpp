#include "foxhunt/nn/state_usage_recorder.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/softmax.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "foxhunt/base/error.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using model::HeadKind;

Tensor on_host(const Tensor& tensor) {
  return tensor.detach().to(at::Device(at::kCPU), at::kDouble).contiguous();
}

/// Row b of a contiguous tensor on the host.
std::span<const double> row_of(const Tensor& tensor, std::int64_t b) {
  const std::int64_t size = tensor.numel() / tensor.size(0);
  return {tensor.const_data_ptr<double>() + b * size, static_cast<std::size_t>(size)};
}

std::vector<double> values_of(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  const Tensor host = on_host(tensor);
  return {host.const_data_ptr<double>(), host.const_data_ptr<double>() + host.numel()};
}

}  // namespace

StateUsageRecorder::StateUsageRecorder(Mamba2SSM& model, const Rng& rng,
                                       const UsageOptions& options)
    : model_(model), rng_(rng.split("state usage")), options_(options) {
  if (options.piece < 1 || options.probes < 1) {
    throw ConfigError(fmt::format("[state_usage] pieces of {} rows and {} probes: both start at 1",
                                  options.piece, options.probes));
  }
  if (model.device().is_meta())
    throw DeviceError("[state_usage] the model lies on meta and has no values");
  for (std::int64_t i = 0; i < model.config().n_layer; ++i) {
    const SSDLayer& layer = model.layer(i);
    layers_.emplace_back(model.config(), values_of(layer.A_log.detach().to(at::kDouble).exp()),
                         values_of(layer.D));
  }
}

/// Random z with the shape of the outputs and E(z z^T) = H.
Tensor StateUsageRecorder::direction(const Tensor& out) {
  const Tensor signs = at::empty(out.sizes(), at::TensorOptions(at::kCPU).dtype(at::kFloat));
  float* sign = signs.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < signs.numel(); ++i) sign[i] = (rng_.next() >> 63U) != 0 ? 1.F : -1.F;
  Tensor r = signs.to(out.device(), out.scalar_type());
  switch (model_.head_config().kind) {
    case HeadKind::kClassification:
    case HeadKind::kTokens: {  // F = diag(sqrt p) - p sqrt(p)^T
      const Tensor p = at::softmax(out.detach(), -1);
      const Tensor scaled = p.sqrt() * r;
      return scaled - p * scaled.sum(-1, /*keepdim=*/true);
    }
    case HeadKind::kQuantiles:
      return r / std::sqrt(static_cast<double>(out.size(-1)));
    case HeadKind::kRegression:
      break;
  }
  return r;
}

void StateUsageRecorder::add(const Tensor& x) {
  const at::AutoGradMode with_gradients(true);
  Mamba2State state = model_.zero_state(x.size(0));
  for (std::int64_t from = 0; from < x.size(1); from += options_.piece) {
    const std::int64_t length = std::min(options_.piece, x.size(1) - from);
    const std::vector<LayerState> before = state.layers;
    ModelTrace trace;
    const Tensor out = model_.forward(x.narrow(1, from, length), state, {}, &trace);
    state.detach();
    torch::autograd::variable_list answers;
    for (const LayerTrace& layer : trace.layers) answers.push_back(layer.y);
    std::vector<std::vector<Tensor>> dy(layers_.size());
    for (std::int64_t k = 0; k < options_.probes; ++k) {
      const auto slopes = torch::autograd::grad({out}, answers, {direction(out)},
                                                /*retain_graph=*/k + 1 < options_.probes);
      for (std::size_t i = 0; i < dy.size(); ++i) dy[i].push_back(on_host(slopes[i]));
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Tensor xbc = on_host(trace.layers[i].xbc);
      const Tensor dt = on_host(trace.layers[i].dt);
      const Tensor start = on_host(before[i].ssm);
      for (std::int64_t b = 0; b < x.size(0); ++b) {
        LayerRows rows{row_of(xbc, b), row_of(dt, b), row_of(start, b), {}};
        for (const Tensor& probe : dy[i]) rows.dy.push_back(row_of(probe, b));
        layers_[i].add(rows);
      }
    }
    rows_ += x.size(0) * length;
  }
}

StateUsage StateUsageRecorder::result() const {
  StateUsage usage{.rows = rows_, .layers = {}};
  for (const LayerUsageSums& layer : layers_) usage.layers.push_back(layer.result());
  return usage;
}

}  // namespace foxhunt::nn
