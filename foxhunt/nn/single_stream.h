#pragma once
// One stream of predictions on the CPU through the kernels that serve (kernels/step). Torch-free.

#include <memory>
#include <span>

#include "foxhunt/kernels/step/step_network.h"

namespace foxhunt::nn {

class Mamba2SSM;

/// Holds a packed copy of the model's weights as they were at construction, and the state.
class SingleStream {
 public:
  /// Whether there are kernels for this model: float32 on the CPU, no token model, own kernels
  /// wanted.
  static bool fits(const Mamba2SSM& model);
  explicit SingleStream(const Mamba2SSM& model);

  /// One normalised row in, the outputs out. Valid until the next call.
  std::span<const float> step(std::span<const float> row);

 private:
  std::unique_ptr<const kernels::StepNetwork> network_;  ///< where the stream can point to it
  kernels::StepStream stream_;
};

}  // namespace foxhunt::nn
