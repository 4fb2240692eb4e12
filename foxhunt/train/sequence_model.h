#pragma once
// What the window trainer trains: any causal model from feature rows to outputs, on one device.

#include <ATen/core/Tensor.h>

#include <memory>

#include "foxhunt/model/head_config.h"
#include "foxhunt/train/optimizer.h"

namespace foxhunt::train {

class SequenceModel {
 public:
  virtual ~SequenceModel() = default;

  virtual at::Device device() const = 0;
  virtual const model::HeadConfig& head() const = 0;
  /// Parameters by name, in a fixed order.
  virtual NamedParameters parameters() = 0;

  /// x [B, T, F] -> [B, T, K] from a zero state, with gradients. Causal: padding behind a row's end
  /// never matters.
  virtual at::Tensor forward(const at::Tensor& x) = 0;
  /// The same without gradients, in memory that does not grow with T.
  virtual at::Tensor answer(const at::Tensor& x) = 0;

  /// Another instance of the same model for a second thread: the optimiser makes its parameters
  /// views of this one's. Null: the model runs one batch at a time and its operations use threads.
  virtual std::unique_ptr<SequenceModel> replica() { return nullptr; }

  /// Called behind every optimiser step: projections onto what the model must fulfil.
  virtual void after_step() {}
};

}  // namespace foxhunt::train
