#pragma once
// The core of a layer between its projections as one autograd function over the CPU kernels.

#include <ATen/core/Tensor.h>

#include "foxhunt/kernels/mixer.h"

namespace foxhunt::nn {

struct MixerTensors {
  at::Tensor proj;                    ///< [B, T, proj_width] of in_proj: z, x, B, C, dt
  at::Tensor conv_weight, conv_bias;  ///< [C, 1, W]; [C] or undefined
  at::Tensor dt_bias, A_log, D;       ///< [H]; D may be undefined
  at::Tensor norm;                    ///< [H P]; undefined with Gate::kNoNorm
  at::Tensor conv_state, ssm_state;   ///< [B, C, W], [B, H, P, N]
  at::Tensor segments, lengths;       ///< of PreparedMarks, or undefined
};

struct MixerResult {
  at::Tensor out;  ///< [B, T, H P], zeros in padding
  at::Tensor conv_next, ssm_next;
};

/// True where mixer_core() has kernels for tensors like this one: CPU, float or double.
bool has_mixer_kernels(const at::Tensor& like);

/// Gradients flow to every floating tensor. Saves proj, the state in front of every chunk and the
/// norms' 1/rms; computes the rest again. One thread; the result of a row depends on that row.
/// All tensors are on the CPU and of one dtype; shapes have been checked.
MixerResult mixer_core(const kernels::MixerShape& shape, const MixerTensors& tensors);

}  // namespace foxhunt::nn
