#pragma once
// AdamW with decoupled decay over named parameters, and the global gradient norm.
//
// LibTorch's torch::optim::AdamW does the step; this decides what decays and keeps every scalar
// either on the parameters' device or on the host as a plain number, so that a step moves nothing
// between devices.

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/train/train_config.h"

namespace foxhunt::train {

using NamedParameters = std::vector<std::pair<std::string, at::Tensor>>;

/// Weight matrices and convolutions decay; A_log, dt_bias, D, norms and biases (everything with one
/// axis) do not.
bool decays(const at::Tensor& parameter);

class Optimizer {
 public:
  Optimizer(NamedParameters parameters, const OptimizerConfig& config);
  ~Optimizer();

  void zero_grad();
  /// Root of the sum of squares over all gradients: a 0-dim tensor on the parameters' device.
  at::Tensor grad_norm() const;
  /// gradients *= min(1, clip_norm / (norm + 1e-6)), on the device.
  void clip(const at::Tensor& norm);
  /// One AdamW step with this learning rate.
  void step(double lr);

  /// Moments and step count of every parameter, as they go into a checkpoint.
  NamedParameters state() const;
  /// Errors  FormatError naming a missing or misshapen tensor.
  void load_state(const NamedParameters& state);

 private:
  struct Impl;
  NamedParameters parameters_;
  double clip_norm_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foxhunt::train
