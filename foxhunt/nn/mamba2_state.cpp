#include "foxhunt/nn/mamba2_state.h"

#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include "foxhunt/base/error.h"
#include "foxhunt/nn/device_check.h"

namespace foxhunt::nn {

Mamba2State Mamba2State::zeros(const model::Mamba2Config& config, std::int64_t batch,
                               at::Device device, at::ScalarType dtype) {
  config.validate();
  if (batch < 1)
    throw ShapeError(fmt::format("[mamba2_state] batch = {}, but must be 1 or more", batch));
  if (dtype != at::kFloat && dtype != at::kDouble) {
    throw ConfigError(fmt::format("[mamba2_state] dtype {}, but a state is Float or Double",
                                  at::toString(dtype)));
  }
  Mamba2State state(batch, device, dtype);
  const auto options = at::TensorOptions(device).dtype(dtype);
  for (std::int64_t i = 0; i < config.n_layer; ++i) {
    state.layers.push_back(
        {at::zeros({batch, config.conv_channels(), config.d_conv}, options),
         at::zeros({batch, config.n_heads(), config.headdim, config.d_state}, options)});
  }
  state.position = at::zeros({batch}, options.dtype(at::kLong));
  return state;
}

Mamba2State Mamba2State::clone() const {
  Mamba2State copy(*this);
  for (LayerState& layer : copy.layers) layer = {layer.conv.clone(), layer.ssm.clone()};
  copy.position = position.clone();
  return copy;
}

void Mamba2State::detach() {
  for (LayerState& layer : layers) layer = {layer.conv.detach(), layer.ssm.detach()};
}

void Mamba2State::reset() {
  for (LayerState& layer : layers) {
    layer = {at::zeros_like(layer.conv.detach()), at::zeros_like(layer.ssm.detach())};
  }
  position = at::zeros_like(position);
}

void Mamba2State::reset_rows(const at::Tensor& rows) {
  check_shape("mamba2_state", "rows", rows, {batch_});
  check_device("mamba2_state", "rows", rows, "the state", device_);
  if (rows.scalar_type() != at::kBool) {
    throw ShapeError(fmt::format("[mamba2_state] rows is {}, but must be Bool",
                                 at::toString(rows.scalar_type())));
  }
  const at::Tensor wide = rows.unsqueeze(-1).unsqueeze(-1);
  for (LayerState& layer : layers) {
    layer = {layer.conv.masked_fill(wide, 0), layer.ssm.masked_fill(wide.unsqueeze(-1), 0)};
  }
  position = position.masked_fill(rows, 0);
}

void Mamba2State::check(const model::Mamba2Config& config, std::int64_t batch, at::Device device,
                        at::ScalarType dtype, std::string_view who) const {
  if (static_cast<std::int64_t>(layers.size()) != config.n_layer) {
    throw ShapeError(fmt::format("[{}] the state has {} layers, but the model {}", who,
                                 layers.size(), config.n_layer));
  }
  if (batch_ != batch) {
    throw ShapeError(
        fmt::format("[{}] the state has {} rows, but the input {}", who, batch_, batch));
  }
  if (device_ != device) {
    throw DeviceError(fmt::format("[{}] the state lies on {}, but the model on {}", who,
                                  device_.str(), device.str()));
  }
  if (dtype_ != dtype) {
    throw ShapeError(fmt::format("[{}] the state is {}, but the model {}", who,
                                 at::toString(dtype_), at::toString(dtype)));
  }
  check_shape(who, "state.position", position, {batch});
  check_device(who, "state.position", position, "the model", device);
}

}  // namespace foxhunt::nn
