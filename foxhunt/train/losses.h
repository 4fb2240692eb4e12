#pragma once
// What training minimises: sums over labelled rows, so that micro-batches add up to exactly the
// batch.

#include <ATen/core/Tensor.h>

#include "foxhunt/model/head_config.h"

namespace foxhunt::train {

/// Labels of a window batch on the model's device.
struct Targets {
  at::Tensor classes;  ///< [B, T] int64, for classification; any value where weight is 0
  at::Tensor values;   ///< [B, T] float32, for regression and quantiles
  at::Tensor
      weights;  ///< [B, T] float32: 0 where a row has no label or no loss; class weights included
};

/// Sum over rows of weight * loss(row): a 0-dim float32 tensor on the outputs' device.
///   classification  -log softmax(outputs)[class]
///   regression      (output - value)^2 / 2
///   quantiles       mean over q of max(q e, (q - 1) e), e = value - output_q
/// outputs [B, T, K]. Errors  ShapeError.
at::Tensor loss_sum(const at::Tensor& outputs, const Targets& targets,
                    const model::HeadConfig& head);

}  // namespace foxhunt::train
