#pragma once
// One token through the core of a layer: between its two projections.
//
//   v = conv(xBC)   x, B, C = silu(v)   dt = clamp(softplus(dt + bias))   e = exp(dt A)
//   y = e (S C) + (B . C) (dt x) + D x         answer: only reads the old state
//   q = y silu(z), gain = 1 / rms(q)           the norm's weights are part of out_proj
//   S <- e S + (dt x) B^T, window <- xBC       advance: may come after the answer is out
//
// Plain data only: files compiled with -mavx512f include this.

#include <stdint.h>

#include "foxhunt/kernels/norm.h"
#include "foxhunt/kernels/step/product.h"

namespace foxhunt::kernels {

struct StepShape {
  int64_t d_model;
  int64_t heads;       ///< H
  int64_t headdim;     ///< P
  int64_t groups;      ///< G, divides H
  int64_t d_state;     ///< N
  int64_t conv_width;  ///< W >= 1
  Gate gate;
  float eps;
  float dt_low, dt_high;
};
inline int64_t inner_width(const StepShape& s) { return s.heads * s.headdim; }
inline int64_t conv_channels(const StepShape& s) {
  return inner_width(s) + 2 * s.groups * s.d_state;
}
/// Width of in_proj: z, x, B, C, dt in this order.
inline int64_t projected_width(const StepShape& s) {
  return inner_width(s) + conv_channels(s) + s.heads;
}

/// Weights of a layer's core.
struct StepCore {
  const float* conv_weight;  ///< [W, padded(channels)] oldest tap first
  const float* conv_bias;    ///< [padded(channels)]
  const float* dt_bias;      ///< [padded(H)]
  const float* A;            ///< [padded(H)] <= 0
  const float* D;            ///< [padded(H)]
};

/// What one stream holds of one layer.
struct StepMemory {
  float* state;           ///< [G, N, r P] with r = H / G: channels innermost, no horizontal sums
  float* window;          ///< [W - 1, padded(channels)] past inputs of the convolution, a ring
  float* projected;       ///< [padded(projected_width)] what in_proj gave
  float* mixed;           ///< [padded(channels)] x, B, C behind convolution and SiLU
  float* q;               ///< [padded(H P)] what out_proj takes
  float *steps, *decays;  ///< [padded(H)] dt and e of the heads
  float* decay;           ///< [padded(H P)] e of each channel's head
  float* drive;           ///< [padded(H P)] dt x
};

/// 1 / sqrt(mean of x^2 + eps) over n floats.
using RmsGainFn = float (*)(const float* x, int64_t n, float eps) noexcept;
/// From `projected` to `q`; answers the gain that out_proj applies. `oldest`: the row of `window`
/// that holds the oldest input. Leaves decay, drive and mixed for advance().
/// Numbers  float32; within 2e-6 of a float64 recurrence over hundreds of tokens.
/// Cost     reads 4 H P N bytes of state.
using LayerAnswerFn = float (*)(const StepShape& shape, const StepCore& core, const StepMemory& m,
                                int64_t oldest) noexcept;
/// Writes the state and the oldest row of the window. Cost  reads and writes 4 H P N bytes.
using LayerAdvanceFn = void (*)(const StepShape& shape, const StepMemory& m,
                                int64_t oldest) noexcept;

/// The step on one instruction set; products of other weight types are in step_kernels.h.
struct StepKernels {
  const char* name;  ///< "avx512"
  bool (*runs_here)() noexcept;
  RmsGainFn rms_gain;
  LayerAnswerFn layer_answer;
  LayerAnswerFn layer_step;  ///< answer and advance in one pass over the state: the same bits
  LayerAdvanceFn layer_advance;
  ProductKernel product;  ///< float32
};

extern const StepKernels kScalarStep;
extern const StepKernels kAvx2Step;
extern const StepKernels kAvx512Step;

}  // namespace foxhunt::kernels
