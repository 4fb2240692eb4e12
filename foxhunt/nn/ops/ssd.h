#pragma once
// The state space of Mamba-2 over a window and over one token, in LibTorch operations that run on
// every device.
//
//   S_t = exp(dt_t A) S_{t-1} + (dt_t x_t) B_t^T        y_t = S_t C_t + D x_t
//
// The window is cut into chunks of Q tokens. With s_i the sum of dt A inside the chunk up to i,
// L_ij = exp(s_i - s_j) for i >= j, and S the state that enters the chunk:
//
//   y_i  = sum_j L_ij (C_i . B_j) dt_j x_j + exp(s_i) S C_i + D x_i
//   S   <- exp(s_Q) S + sum_j exp(s_Q - s_j) dt_j x_j B_j^T
//
// Everything heavy is a batched matrix product. Sums of dt A start anew in every chunk (and
// segment) and are taken in float64; a decay is one exponential of a difference that is at most 0,
// never a quotient of two.
//
// Source  Dao & Gu 2024, arXiv:2405.21060; gradients derived from the formulas above.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace foxhunt::nn {

struct SsdSizes {
  std::int64_t heads;    ///< H
  std::int64_t headdim;  ///< P
  std::int64_t groups;   ///< G, divides H: head h belongs to group h G / H, neighbours share one
  std::int64_t d_state;  ///< N
};

struct SsdResult {
  at::Tensor y;      ///< [B, T, H, P]
  at::Tensor state;  ///< [B, H, P, N] behind the last token
};

/// xbc [B, T, H P + 2 G N] (x, B, C side by side, after convolution and SiLU), dt [B, T, H] after
/// its limits (0: the token does nothing), A [H] <= 0, D [H] or undefined, state [B, H, P, N];
/// float32 or float64, all alike. `segments` [B, T] int64 or undefined: numbers from 0 that rise by
/// one where the state restarts from zero; the first segment continues `state`. `chunk` is Q; a
/// last chunk may be short and is not padded. Differentiable once in xbc, dt, A, D and state; the
/// backward pass recomputes what is quadratic in Q.
SsdResult ssd_window(const SsdSizes& sizes, const at::Tensor& xbc, const at::Tensor& dt,
                     const at::Tensor& A, const at::Tensor& D, const at::Tensor& state,
                     const at::Tensor& segments, std::int64_t chunk);

/// One token: xbc [B, H P + 2 G N], dt [B, H] -> y [B, H, P] and the new state. Differentiable.
SsdResult ssd_step(const SsdSizes& sizes, const at::Tensor& xbc, const at::Tensor& dt,
                   const at::Tensor& A, const at::Tensor& D, const at::Tensor& state);

}  // namespace foxhunt::nn
