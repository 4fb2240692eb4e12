#pragma once
// One block of the backbone as one operation: out = r + out_proj(mixer(in_proj(rms(r) w))).
//
// Between the passes it keeps in_proj's output, the mixer's output, the state in front of every
// chunk and the norms' 1/rms; the block's input is the caller's.

#include <cstdint>

#include "foxhunt/kernels/linear.h"
#include "foxhunt/kernels/mixer.h"

namespace foxhunt::kernels {

struct BlockShape {
  std::int64_t d_model;
  double norm_eps;  ///< of the norm in front
  MixerShape mixer;
};

template <class T>
struct BlockWeights {
  const T* norm;     ///< [D]
  const T* in_proj;  ///< [proj_width, D]
  const T* in_bias;  ///< [proj_width] or null
  MixerWeights<T> mixer;
  const T* out_proj;  ///< [D, H P]
  const T* out_bias;  ///< [D] or null; adds to padding too
};

/// What the backward pass needs; all contiguous.
template <class T>
struct BlockSaved {
  T* proj;          ///< [B, T, proj_width]
  T* mixed;         ///< [B, T, H P]
  T* rstd;          ///< [B, T] of the norm in front
  T* mixer_rstd;    ///< [B, T, G], null with Gate::kNoNorm
  T* chunk_states;  ///< [chunks of the batch, H P N]; null: no backward pass
};

template <class T>
struct BlockStates {
  const T *conv, *ssm;      ///< in front of the window, as in MixerBatch; null: 0
  T *conv_next, *ssm_next;  ///< or null
};

/// Added to, but for x and the states, which are written.
template <class T>
struct BlockGradients {
  T* norm;
  T *in_proj, *in_bias;                                ///< in_bias null without one
  T *conv, *conv_bias, *dt_bias, *A, *D, *mixer_norm;  ///< as in MixerGradients
  T *out_proj, *out_bias;
  T* x;                       ///< [B, T, D]
  T *conv_state, *ssm_state;  ///< or null
};

/// What both passes see.
template <class T>
struct BlockBatch {
  std::int64_t batch, tokens;
  const T* x;                    ///< [B, T, D]
  const std::int64_t* segments;  ///< [B, T] or null, as in plan_chunks()
  const std::int64_t* lengths;   ///< [B] or null
  BlockStates<T> states;
};

/// out [B, T, D] may not be x. Rows go through the whole block a few hundred tokens at a time, so
/// that what one step writes the next finds in the cache. `products` computes the projections;
/// all else is float32 by its table.
void block_forward(const Products& products, const BlockShape& shape,
                   const BlockWeights<float>& weights, const BlockBatch<float>& batch,
                   const BlockSaved<float>& saved, float* out);

/// What a pass takes beside its operands and BlockSaved, for rows of `tokens`: the larger of the
/// forward and the backward pass.
std::int64_t block_scratch_bytes(const BlockShape& shape, std::int64_t tokens, bool bf16);

/// Bytes of BlockSaved for a batch of rows without segments or padding.
std::int64_t block_saved_bytes(const BlockShape& shape, std::int64_t batch, std::int64_t tokens);

template <class T>
struct BlockUpstream {
  const T* out;                   ///< [B, T, D]
  const T *conv_next, *ssm_next;  ///< or null: 0
};

void block_backward(const Products& products, const BlockShape& shape,
                    const BlockWeights<float>& weights, const BlockBatch<float>& batch,
                    const BlockSaved<float>& saved, const BlockUpstream<float>& upstream,
                    const BlockGradients<float>& gradients);

}  // namespace foxhunt::kernels
