#pragma once
// A block of the backbone as one autograd function over the CPU kernels: norm, projections, mixer
// and residual.

#include <ATen/core/Tensor.h>

#include "foxhunt/kernels/block.h"
#include "foxhunt/nn/ops/mixer.h"

namespace foxhunt::nn {

struct BlockTensors {
  at::Tensor x;                   ///< [B, T, D] residual stream
  at::Tensor norm;                ///< [D]
  at::Tensor in_proj, in_bias;    ///< [proj_width, D]; bias or undefined
  at::Tensor out_proj, out_bias;  ///< [D, H P]; bias or undefined
  MixerTensors mixer;             ///< without proj; states undefined: zero
};

/// out is the residual stream behind the block; the states are undefined if not `want_states`.
/// Float on the CPU; under autocast to bfloat16 the projections' products run in bf16. Rows with
/// lengths need projections without bias.
MixerResult block(const kernels::BlockShape& shape, const BlockTensors& tensors, bool want_states);

}  // namespace foxhunt::nn
