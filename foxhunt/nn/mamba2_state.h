#pragma once
// What a batch of streams remembers between two calls: tensors on one explicit device.
//
// A call of forward() or step() replaces the tensors by new ones and never writes into the old, so
// that gradients flow to a state and from it (truncated back-propagation over days: detach() where
// the chain is to end).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "foxhunt/model/mamba2_config.h"

namespace foxhunt::nn {

/// The memory of one layer. float32, or float64 in a float64 model; never narrower.
struct LayerState {
  at::Tensor
      conv;  ///< [B, C, W] the last W raw inputs of the convolution, newest in the last column
  at::Tensor ssm;  ///< [B, H, P, N]
};

/// What a window holds beside its rows. An undefined tensor: not given. Both lie on the model's
/// device.
struct WindowMarks {
  at::Tensor seq_idx;  ///< [B, T] int64: where it changes from one token to the next, convolution
                       ///< and state restart
  at::Tensor lengths;  ///< [B] int64, 0..T: row b has lengths[b] tokens, what follows is padding
                       ///< and never matters
};

class Mamba2State {
 public:
  /// The state before the first token. `dtype` is kFloat or kDouble, the model's own.
  /// Errors  ShapeError: batch < 1. ConfigError: an invalid config or another dtype.
  static Mamba2State zeros(const model::Mamba2Config& config, std::int64_t batch, at::Device device,
                           at::ScalarType dtype = at::ScalarType::Float);

  std::int64_t batch() const { return batch_; }
  at::Device device() const { return device_; }
  at::ScalarType dtype() const { return dtype_; }

  std::vector<LayerState>
      layers;  ///< replace tensors freely; check() holds them to batch, device, dtype and shape
  at::Tensor position;  ///< [B] int64: tokens since a row's start or its last reset

  /// A deep copy that shares nothing; gradients flow through it.
  Mamba2State clone() const;
  /// Cuts the history of gradients; the values stay.
  void detach();
  /// Zeros in every row.
  void reset();
  /// Zeros in the rows where `rows` is true. rows [B] bool on the state's device.
  /// Errors  ShapeError, DeviceError.
  void reset_rows(const at::Tensor& rows);

  /// Errors  ShapeError or DeviceError naming both sides, unless this is a state for `config`,
  /// `batch` rows of
  ///         `dtype` on `device`. `who` opens the message.
  void check(const model::Mamba2Config& config, std::int64_t batch, at::Device device,
             at::ScalarType dtype, std::string_view who) const;

 private:
  Mamba2State(std::int64_t batch, at::Device device, at::ScalarType dtype)
      : batch_(batch), device_(device), dtype_(dtype) {}
  std::int64_t batch_;
  at::Device device_;
  at::ScalarType dtype_;
};

}  // namespace foxhunt::nn
