#pragma once
// What a training step, a validation and a health report take from the allocator of tensors.
// Torch-free.
//
// Found by running the step itself on the meta device, where tensors have shapes and no memory,
// under an allocator that counts: the code that trains is the code that is weighed. Not counted:
// what LibTorch's operations and the project's kernels take inside of themselves.

#include <cstdint>

#include "foxhunt/model/head_config.h"
#include "foxhunt/train/hyperparameters.h"

namespace foxhunt::train {

struct WeighedStep {
  const Mamba2Hyperparameters& hyper;  ///< chunk_size chosen
  const model::HeadConfig& head;
  bool cuda = false;              ///< else the CPU
  std::int64_t rows = 1;          ///< windows held at once
  std::int64_t tokens = 1;        ///< rows of a window
  std::int64_t whole_tokens = 1;  ///< longest sequence that validation answers
};

/// Bytes. "Above" is on top of weights and optimiser.
struct StepWeight {
  std::int64_t model_and_optimizer = 0;  ///< what stays for the whole run
  std::int64_t gradients = 0;            ///< of one lane, behind its backward pass
  std::int64_t kept = 0;                 ///< between forward and backward pass: activations, loss
  std::int64_t kept_a_layer = 0;
  std::int64_t step = 0;        ///< above, at the fullest moment of a lane's first micro-batch
  std::int64_t later_step = 0;  ///< of its later ones, gradients included
  std::int64_t update = 0;      ///< above the gradients: norm, clipping, step
  std::int64_t validation = 0;  ///< above: one sequence
  std::int64_t health = 0;      ///< above: the report behind an epoch
};

/// Cost  milliseconds. One at a time in a process.
StepWeight weigh_step(const WeighedStep& what);

}  // namespace foxhunt::train
