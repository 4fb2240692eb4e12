#include "foxhunt/nn/mamba2.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/nn/device_check.h"
#include "foxhunt/nn/init.h"
#include "foxhunt/nn/marks.h"
#include "foxhunt/nn/ops/recompute.h"

namespace foxhunt::nn {

using at::Tensor;
using model::HeadKind;

struct Mamba2SSM::Block : torch::nn::Module {
  Block(const model::Mamba2Config& config, std::int64_t index, at::Device device,
        at::ScalarType dtype)
      : norm(register_module("norm", std::make_shared<NormPart>(
                                         config.d_model, at::TensorOptions(device).dtype(dtype)))),
        mixer(register_module("mixer", std::make_shared<SSDLayer>(config, index, device, dtype))) {}
  std::shared_ptr<NormPart> norm;
  std::shared_ptr<SSDLayer> mixer;
};

struct Mamba2SSM::Backbone : torch::nn::Module {
  Backbone(const model::Mamba2Config& config, const model::HeadConfig& head, at::Device device,
           at::ScalarType dtype) {
    const auto options = at::TensorOptions(device).dtype(dtype);
    if (head.kind == HeadKind::kTokens) {
      embeddings = register_module(
          "embeddings", std::make_shared<EmbeddingPart>(head.n_features, config.d_model, options));
    } else {
      in_proj =
          register_module("in_proj", std::make_shared<LinearPart>(head.n_features, config.d_model,
                                                                  /*with_bias=*/true, options));
    }
    const auto list = register_module("layers", std::make_shared<torch::nn::Module>());
    for (std::int64_t i = 0; i < config.n_layer; ++i) {
      blocks.push_back(list->register_module(fmt::format("{}", i),
                                             std::make_shared<Block>(config, i, device, dtype)));
    }
    norm_f = register_module("norm_f", std::make_shared<NormPart>(config.d_model, options));
  }
  std::shared_ptr<LinearPart> in_proj;
  std::shared_ptr<EmbeddingPart> embeddings;
  std::vector<std::shared_ptr<Block>> blocks;
  std::shared_ptr<NormPart> norm_f;
};

Mamba2SSM::Mamba2SSM(const model::Mamba2Config& config, const model::HeadConfig& head,
                     at::Device device, at::ScalarType dtype)
    : config_(config), head_config_(head), device_(device), dtype_(dtype) {
  config.validate();
  head.validate();
  backbone_ = register_module("backbone", std::make_shared<Backbone>(config, head, device, dtype));
  const auto options = at::TensorOptions(device).dtype(dtype);
  const bool tokens = head.kind == HeadKind::kTokens;
  if (!tokens || !head.tied) {
    head_ = register_module(tokens ? "lm_head" : "head",
                            std::make_shared<LinearPart>(config.d_model, head.n_outputs(),
                                                         /*with_bias=*/!tokens, options));
  }
  initialise(0);
}

Mamba2SSM::~Mamba2SSM() = default;

void Mamba2SSM::use_kernels(Kernels kernels) {
  kernels_ = kernels;
  reset_prediction_state();
  if (backbone_->in_proj) backbone_->in_proj->kernels = kernels;
  if (head_) head_->kernels = kernels;
  backbone_->norm_f->kernels = kernels;
  for (const auto& block : backbone_->blocks) {
    block->norm->kernels = kernels;
    block->mixer->use_kernels(kernels);
  }
}

std::shared_ptr<Mamba2SSM> Mamba2SSM::default_hft(at::Device device,
                                                  const model::HeadConfig& head) {
  return std::make_shared<Mamba2SSM>(model::Mamba2Config::default_hft(), head, device);
}

void Mamba2SSM::initialise(std::uint64_t seed) {
  reset_prediction_state();
  const Rng rng = Rng(seed).split("mamba2 weights");
  const auto inverse_root = [](std::int64_t n) { return 1.0 / std::sqrt(static_cast<double>(n)); };
  if (backbone_->embeddings)
    fill_normal(backbone_->embeddings->weight, rng.split("embeddings"), 0.02);
  if (backbone_->in_proj) {
    fill_uniform(backbone_->in_proj->weight, rng.split("in_proj"),
                 inverse_root(head_config_.n_features));
    fill_constant(backbone_->in_proj->bias, 0.0);
  }
  for (const auto& block : backbone_->blocks) {
    fill_constant(block->norm->weight, 1.0);
    block->mixer->initialise(rng);
  }
  fill_constant(backbone_->norm_f->weight, 1.0);
  if (head_) {
    fill_uniform(head_->weight, rng.split("head"), inverse_root(config_.d_model));
    fill_constant(head_->bias, 0.0);
  }
}

Kernels Mamba2SSM::kernels_in_use() const {
  return backbone_->blocks.front()->mixer->kernels_in_use();
}

void Mamba2SSM::check_input(const Tensor& x, bool windowed) const {
  const std::string_view who = windowed ? "mamba2.forward" : "mamba2.step";
  const bool tokens = head_config_.kind == HeadKind::kTokens;
  std::vector<std::int64_t> shape{-1};
  if (windowed) shape.push_back(-1);
  if (!tokens) shape.push_back(head_config_.n_features);
  check_shape(who, "x", x, shape);
  check_device(who, "x", x,
               backbone_->in_proj ? "backbone.in_proj.weight" : "backbone.embeddings.weight",
               device_);
  if (x.size(0) < 1) throw ShapeError(fmt::format("[{}] x has no rows", who));
  if (windowed && x.size(1) < 1) throw ShapeError(fmt::format("[{}] x has no tokens", who));
  if (tokens ? x.scalar_type() != at::kLong : x.scalar_type() != dtype_) {
    throw ShapeError(fmt::format("[{}] x is {}, but must be {}", who, at::toString(x.scalar_type()),
                                 at::toString(tokens ? at::kLong : dtype_)));
  }
}

Tensor Mamba2SSM::embed(const Tensor& x) const {
  // index() and not embedding(), which has no form on the meta device.
  if (backbone_->embeddings) return at::index(backbone_->embeddings->weight, {x});
  return (*backbone_->in_proj)(x).to(dtype_);
}

Tensor Mamba2SSM::answer(const Tensor& residual, ModelTrace* trace) const {
  const Tensor hidden = (*backbone_->norm_f)(residual, config_.norm_eps);
  if (trace != nullptr) trace->last_hidden = hidden;
  if (head_) return (*head_)(hidden).to(dtype_);
  return at::linear(hidden, backbone_->embeddings->weight).to(dtype_);
}

Tensor Mamba2SSM::forward(const Tensor& x, Mamba2State& state, const WindowMarks& marks,
                          ModelTrace* trace) {
  check_input(x, /*windowed=*/true);
  state.check(config_, x.size(0), device_, dtype_, "mamba2.forward");
  const PreparedMarks prepared =
      prepare_marks(marks, x.size(0), x.size(1), device_, "mamba2.forward", "the model");
  std::vector<LayerState> next =
      state.layers;  // put in place at the end: an error leaves the state as it was
  const Tensor residual = run_blocks(embed(prepared.without_padding(x)), &next, prepared, trace);
  state.layers = std::move(next);
  state.position = prepared.advance(state.position, x.size(1));
  return prepared.without_padding(answer(residual, trace));
}

Tensor Mamba2SSM::forward(const Tensor& x, const WindowMarks& marks, ModelTrace* trace) {
  check_input(x, /*windowed=*/true);
  const PreparedMarks prepared =
      prepare_marks(marks, x.size(0), x.size(1), device_, "mamba2.forward", "the model");
  const Tensor residual = run_blocks(embed(prepared.without_padding(x)), nullptr, prepared, trace);
  return prepared.without_padding(answer(residual, trace));
}

Tensor Mamba2SSM::run_blocks(Tensor residual, std::vector<LayerState>* states,
                             const PreparedMarks& marks, ModelTrace* trace) {
  if (trace != nullptr) trace->layers.assign(backbone_->blocks.size(), {});
  for (std::size_t i = 0; i < backbone_->blocks.size(); ++i) {
    Block& block = *backbone_->blocks[i];
    if (recompute_ && states == nullptr && trace == nullptr) {
      residual = recomputed(residual, block.parameters(), [this, &block, marks](const Tensor& x) {
        return run_block(block, x, nullptr, marks, nullptr);
      });
      continue;
    }
    residual = run_block(block, residual, states != nullptr ? &(*states)[i] : nullptr, marks,
                         trace != nullptr ? &trace->layers[i] : nullptr);
  }
  return residual;
}

Tensor Mamba2SSM::run_block(Block& block, const Tensor& residual, LayerState* state,
                            const PreparedMarks& marks, LayerTrace* seen) {
  if (seen == nullptr) {
    const Tensor whole = block.mixer->residual_block(residual, block.norm->weight, state, marks);
    if (whole.defined()) return whole;
  }
  const Tensor u = (*block.norm)(residual, config_.norm_eps);
  Tensor out = residual + block.mixer->forward_prepared(u, state, marks, seen);
  if (seen != nullptr) seen->residual = out;
  return out;
}

Tensor Mamba2SSM::step(const Tensor& x, Mamba2State& state, ModelTrace* trace) {
  check_input(x, /*windowed=*/false);
  state.check(config_, x.size(0), device_, dtype_, "mamba2.step");
  std::vector<LayerState> next = state.layers;
  if (trace != nullptr) trace->layers.assign(next.size(), {});
  Tensor residual = embed(x);
  for (std::size_t i = 0; i < next.size(); ++i) {
    const Block& block = *backbone_->blocks[i];
    LayerTrace* seen = trace != nullptr ? &trace->layers[i] : nullptr;
    residual =
        residual + block.mixer->step((*block.norm)(residual, config_.norm_eps), next[i], seen);
    if (seen != nullptr) seen->residual = residual;
  }
  state.layers = std::move(next);
  state.position = state.position + 1;
  return answer(residual, trace);
}

Mamba2State Mamba2SSM::zero_state(std::int64_t batch) const {
  return Mamba2State::zeros(config_, batch, device_, dtype_);
}

std::span<const float> Mamba2SSM::predict_single_fast(std::span<const float> features) {
  const auto start = std::chrono::steady_clock::now();
  if (head_config_.kind == HeadKind::kTokens) {
    throw ConfigError("[mamba2.predict_single_fast] a token model takes no features");
  }
  if (device_.is_meta())
    throw DeviceError("[mamba2.predict_single_fast] the model lies on meta and has no values");
  if (static_cast<std::int64_t>(features.size()) != head_config_.n_features) {
    throw ShapeError(fmt::format("[mamba2.predict_single_fast] {} features, but the model takes {}",
                                 features.size(), head_config_.n_features));
  }
  std::span<const float> outputs;
  if (SingleStream::fits(*this)) {
    if (!stream_) stream_.emplace(*this);
    outputs = stream_->step(features);
  } else {
    outputs = predict_with_torch(features);
  }
  const auto elapsed = std::chrono::steady_clock::now() - start;
  latency_.record(std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
  return outputs;
}

std::span<const float> Mamba2SSM::predict_with_torch(std::span<const float> features) {
  const at::NoGradGuard no_grad;
  const auto host = at::TensorOptions(at::kCPU).dtype(at::kFloat);
  const Tensor row = at::empty({1, head_config_.n_features}, host);
  std::copy(features.begin(), features.end(), row.mutable_data_ptr<float>());
  if (!prediction_state_) prediction_state_ = zero_state(1);
  prediction_ = step(row.to(at::TensorOptions(device_).dtype(dtype_)), *prediction_state_)
                    .to(host)
                    .contiguous();
  return {prediction_.const_data_ptr<float>(), static_cast<std::size_t>(prediction_.numel())};
}

void Mamba2SSM::reset_prediction_state() {
  stream_.reset();
  prediction_state_.reset();
}

PerformanceMetrics Mamba2SSM::performance_metrics() const {
  PerformanceMetrics metrics = step_cost(config_, head_config_, dtype_ == at::kDouble ? 8 : 4);
  metrics.predictions = latency_.count();
  metrics.p50_us = latency_.percentile_us(0.5);
  metrics.p99_us = latency_.percentile_us(0.99);
  metrics.rows_per_second = latency_.count() > 0 ? 1e6 / latency_.mean_us() : 0.0;
  return metrics;
}

SSDLayer& Mamba2SSM::layer(std::int64_t index) {
  return *backbone_->blocks.at(static_cast<std::size_t>(index))->mixer;
}

void Mamba2SSM::to(at::Device device, at::ScalarType dtype, bool /*non_blocking*/) {
  if (device == device_ && dtype == dtype_) return;
  throw DeviceError(fmt::format(
      "[mamba2] the model was built on {} as {} and stays there; for {} as {} build another "
      "and load the weights",
      device_.str(), at::toString(dtype_), device.str(), at::toString(dtype)));
}
void Mamba2SSM::to(at::ScalarType dtype, bool non_blocking) { to(device_, dtype, non_blocking); }
void Mamba2SSM::to(at::Device device, bool non_blocking) { to(device, dtype_, non_blocking); }

}  // namespace foxhunt::nn
