#pragma once
// The pieces of ops/ssd.cpp: one block of equal chunks, forward and backward, without autograd.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "foxhunt/nn/ops/ssd.h"

namespace foxhunt::nn {

/// A block of `count` chunks of `length` tokens each, of `batch` rows.
struct ChunkShape {
  SsdSizes sizes;
  std::int64_t batch;
  std::int64_t count;
  std::int64_t length;

  std::int64_t heads_per_group() const { return sizes.heads / sizes.groups; }
  std::int64_t inner() const { return sizes.heads * sizes.headdim; }
  std::int64_t channels() const { return inner() + 2 * sizes.groups * sizes.d_state; }
};

/// The decays of a block. Where segments meet, each is zero across the boundary.
struct ChunkDecays {
  at::Tensor within;   ///< [B, nc, H, Q, Q] L_ij, zero above the diagonal
  at::Tensor into;     ///< [B, nc, Q, H] exp(s_i): from the entering state to token i
  at::Tensor tail;     ///< [B, nc, Q, H] exp(s_Q - s_j): from token j to the leaving state
  at::Tensor through;  ///< [B, nc, H] exp(s_Q): from the entering to the leaving state
};

/// dt [B, T, H] and A [H] of the block; `segments` [B, T] or undefined; `before` [B]: the segment
/// of the token in front of the block.
ChunkDecays make_decays(const ChunkShape& shape, const at::Tensor& dt, const at::Tensor& A,
                        const at::Tensor& segments, const at::Tensor& before);

struct ChunkForward {
  at::Tensor y;      ///< [B, T, H, P]
  at::Tensor enter;  ///< [B, nc, H, P, N] the state that enters each chunk
  at::Tensor state;  ///< [B, H, P, N] that leaves the block
};
ChunkForward chunks_forward(const ChunkShape& shape, const ChunkDecays& decays,
                            const at::Tensor& xbc, const at::Tensor& dt, const at::Tensor& D,
                            const at::Tensor& state);

struct ChunkGradients {
  at::Tensor xbc, dt, A, D, state;
};
ChunkGradients chunks_backward(const ChunkShape& shape, const ChunkDecays& decays,
                               const at::Tensor& xbc, const at::Tensor& dt, const at::Tensor& A,
                               const at::Tensor& D, const at::Tensor& enter, const at::Tensor& dy,
                               const at::Tensor& dstate);

}  // namespace foxhunt::nn
