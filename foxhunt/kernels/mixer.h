#pragma once
// The whole core of a Mamba-2 layer between its two projections, chunk by chunk in the cache:
// convolution, SiLU, step size, state space, gate and norm. Forward and backward on one thread.
//
// The input is in_proj's output as it lies: columns z [H P], x [H P], B [G N], C [G N], dt [H].
// What backward needs beside it is the state in front of every chunk and the norms' 1/rms; the
// rest is computed again.

#include <cstdint>

#include "foxhunt/kernels/chunk_plan.h"
#include "foxhunt/kernels/kernel_table.h"

namespace foxhunt::kernels {

struct MixerShape {
  SsdShape ssd;
  std::int64_t width;  ///< W of the convolution
  std::int64_t chunk;  ///< Q
  Gate gate;
  double eps;
  double dt_low, dt_high;

  std::int64_t inner() const { return inner_width(ssd); }
  std::int64_t channels() const { return inner() + 2 * ssd.groups * ssd.d_state; }
  std::int64_t proj_width() const { return inner() + channels() + ssd.heads; }
};

template <class T>
struct MixerWeights {
  const T* conv;       ///< [W, C] tap-major
  const T* conv_bias;  ///< [C] or null
  const T* dt_bias;    ///< [H]
  const T* A;          ///< [H] < 0
  const T* D;          ///< [H] or null
  const T* norm;       ///< [H P], null with Gate::kNoNorm
};

/// The batch that both passes see.
template <class T>
struct MixerBatch {
  std::int64_t batch, tokens;
  const T* proj;  ///< [B, T, proj_width], token stride proj_row, rows T * proj_row apart
  std::int64_t proj_row;
  const T* conv_state;  ///< [B, C, W] raw inputs in front of the window, newest last; null: 0
  const T* ssm_state;   ///< [B, H, P, N] or null: 0
};

template <class T>
struct MixerForwardOut {
  T* out;           ///< [B, T, H P], zeros in padding
  T* conv_next;     ///< [B, C, W] or null
  T* ssm_next;      ///< [B, H, P, N] or null
  T* chunk_states;  ///< [plan.size(), H P N] in the kernels' layout, or null: no backward pass
  T* rstd;          ///< [B, T, G] or null
};

template <class T>
struct MixerBackwardIn {
  const T* chunk_states;
  const T* rstd;
  const T* dout;        ///< [B, T, H P]
  const T* dconv_next;  ///< [B, C, W] or null: 0
  const T* dssm_next;   ///< [B, H, P, N] or null: 0
};

/// Gradients. The weights' are added to; everything else is written, zeros in padding.
template <class T>
struct MixerGradients {
  T* proj;                    ///< [B, T, proj_width] contiguous
  T *conv, *conv_bias;        ///< [W, C] tap-major, [C] or null
  T *dt_bias, *A, *D, *norm;  ///< [H], [H], [H] or null, [H P] or null
  T* conv_state;              ///< [B, C, W] or null: not wanted
  T* ssm_state;               ///< [B, H, P, N] or null: not wanted
};

/// Errors    none beyond std::bad_alloc; shapes have been checked.
/// Numbers   a row's results depend on the row alone; weight gradients are summed row by row.
/// Cost      one scratch block a call (mixer_parts.h); all offsets are 64-bit.
template <class T>
void mixer_forward(const KernelTableOf<T>& kernels, const MixerShape& shape,
                   const MixerWeights<T>& weights, const ChunkPlan& plan,
                   const MixerBatch<T>& batch, const MixerForwardOut<T>& out);
template <class T>
void mixer_backward(const KernelTableOf<T>& kernels, const MixerShape& shape,
                    const MixerWeights<T>& weights, const ChunkPlan& plan,
                    const MixerBatch<T>& batch, const MixerBackwardIn<T>& in,
                    const MixerGradients<T>& gradients);

}  // namespace foxhunt::kernels
