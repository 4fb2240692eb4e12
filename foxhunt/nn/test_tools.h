#pragma once
// What the tests of this room share: random layers and inputs, and how far two tensors lie apart.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/model/head_config.h"
#include "foxhunt/nn/ssd_layer.h"

namespace foxhunt::nn {

/// Uniform in [-1, 1], from an explicit generator.
inline at::Tensor random_tensor(Rng& rng, at::IntArrayRef shape,
                                at::ScalarType dtype = at::kDouble) {
  const at::Tensor t = at::empty(shape, at::TensorOptions().dtype(at::kDouble));
  double* values = t.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < t.numel(); ++i) values[i] = rng.uniform(-1.0, 1.0);
  return t.to(dtype);
}

inline at::Tensor ints(const std::vector<std::int64_t>& values) { return at::tensor(values); }

/// max |a - b| / max(1, max |b|); 1e9 where something is not finite.
inline double distance(const at::Tensor& a, const at::Tensor& b) {
  if (!at::isfinite(a).all().item<bool>() || !at::isfinite(b).all().item<bool>()) return 1e9;
  const double scale = std::max(1.0, b.abs().max().item<double>());
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>() / scale;
}

inline bool same_bits(const at::Tensor& a, const at::Tensor& b) { return at::equal(a, b); }

/// A small layer whose every parameter matters: D, norms and biases random, step sizes from 0.01
/// to 1.
inline std::shared_ptr<SSDLayer> random_layer(const model::Mamba2Config& config, Rng& rng,
                                              at::ScalarType dtype = at::kDouble) {
  auto layer = std::make_shared<SSDLayer>(config, 0, at::kCPU, dtype);
  const at::NoGradGuard no_grad;
  for (auto& item : layer->named_parameters()) {
    const at::Tensor noise = random_tensor(rng, item.value().sizes(), dtype);
    const std::string& name = item.key();
    if (name == "dt_bias") {
      item.value().copy_(noise * 2 - 2);
    } else if (name == "A_log") {
      item.value().copy_(noise * 1.5 + 0.5);
    } else if (name == "D" || name == "norm.weight") {
      item.value().copy_(noise * 0.5 + 1);
    } else {
      item.value().copy_(noise * 0.5);
    }
  }
  return layer;
}

inline LayerState zero_layer_state(const model::Mamba2Config& c, std::int64_t batch,
                                   at::ScalarType dtype = at::kDouble) {
  const auto options = at::TensorOptions().dtype(dtype);
  return {at::zeros({batch, c.conv_channels(), c.d_conv}, options),
          at::zeros({batch, c.n_heads(), c.headdim, c.d_state}, options)};
}

inline LayerState random_layer_state(const model::Mamba2Config& c, std::int64_t batch, Rng& rng,
                                     at::ScalarType dtype = at::kDouble) {
  return {random_tensor(rng, {batch, c.conv_channels(), c.d_conv}, dtype),
          random_tensor(rng, {batch, c.n_heads(), c.headdim, c.d_state}, dtype)};
}

/// Sizes that share no factor, and chunks shorter than most windows.
inline model::Mamba2Config small_layer(std::int64_t groups = 2) {
  model::Mamba2Config c;
  c.d_model = 12;
  c.n_layer = 1;
  c.headdim = 6;
  c.d_state = 5;
  c.ngroups = groups;
  c.chunk_size = 8;
  return c;
}

/// What a layer answers and remembers.
struct Outcome {
  at::Tensor out;
  LayerState state;
};

inline Outcome window(SSDLayer& layer, const at::Tensor& u, const LayerState& from,
                      const WindowMarks& marks = {}) {
  Outcome r{at::Tensor(), from};
  r.out = layer.forward(u, &r.state, marks);
  return r;
}

inline Outcome steps(SSDLayer& layer, const at::Tensor& u, const LayerState& from) {
  Outcome r{at::Tensor(), from};
  std::vector<at::Tensor> rows;
  for (std::int64_t t = 0; t < u.size(1); ++t) rows.push_back(layer.step(u.select(1, t), r.state));
  r.out = at::stack(rows, 1);
  return r;
}

/// A model of two layers and groups.
inline model::Mamba2Config small_model() {
  model::Mamba2Config c;
  c.d_model = 16;
  c.n_layer = 2;
  c.headdim = 8;
  c.d_state = 4;
  c.ngroups = 2;
  c.chunk_size = 8;
  return c;
}

inline model::HeadConfig head_of(model::HeadKind kind) {
  model::HeadConfig head;
  head.kind = kind;
  head.n_features = 5;
  return head;
}

/// The text of the error that `function` throws, or "no error".
template <class Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace foxhunt::nn
