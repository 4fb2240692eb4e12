#pragma once
// The operands of the state space on a GPU: plain structs of sizes, strides and pointers.
//
// In is float or Bf16 (double in tests on the host), Real what sums, states and step sizes are kept
// in: float. Strides count elements. A window is cut into chunks of Q = pick_chunk() tokens; the
// last may be short.

#include <cstdint>

#include "foxhunt/kernels/cuda/portable.h"

namespace foxhunt::kernels::cuda {

struct Shape {
  std::int64_t batch;    ///< B
  std::int64_t tokens;   ///< T
  std::int64_t heads;    ///< H
  std::int64_t headdim;  ///< P
  std::int64_t groups;   ///< G, divides H: heads h of [g H/G, (g+1) H/G) share B and C
  std::int64_t d_state;  ///< N

  FX_HD constexpr std::int64_t heads_per_group() const { return heads / groups; }
  FX_HD constexpr std::int64_t state_size() const { return headdim * d_state; }
};

/// x, B and C are views of one tensor [B, T, H P + 2 G N]: they share the strides of row and token,
/// channels lie side by side.
template <class In, class Real>
struct Inputs {
  const In* x;                ///< [B, T, H, P]
  const In* B;                ///< [B, T, G, N]
  const In* C;                ///< [B, T, G, N]
  std::int64_t row_stride;    ///< of x, B and C
  std::int64_t token_stride;  ///< of x, B and C
  const Real* dt;             ///< [B, T, H] >= 0, after softplus and limits; heads side by side
  std::int64_t dt_row_stride;
  std::int64_t dt_token_stride;
  const Real* A;                 ///< [H] <= 0
  const Real* D;                 ///< [H] or null
  const std::int64_t* segments;  ///< [B, T] contiguous, or null: numbers from 0 that rise by one
                                 ///< where the state restarts from zero; 0 continues `state`
};

template <class In, class Real>
struct ForwardArgs {
  Shape shape;
  Inputs<In, Real> in;
  const Real* state;  ///< [B, H, P, N] or null for zeros
  In* y;              ///< [B, T, H, P] written
  Real* enter;        ///< [B, chunks, H, P, N] written: the state that enters each chunk
  Real* through;      ///< [B, chunks, H] written: what is left of it behind the chunk
  Real* final_state;  ///< [B, H, P, N] written; may be `state`
};

template <class In, class Real>
struct BackwardArgs {
  Shape shape;
  Inputs<In, Real> in;
  const Real* enter;         ///< as the forward pass wrote it
  const Real* through;       ///< as the forward pass wrote it
  const In* dy;              ///< [B, T, H, P] contiguous
  const Real* dfinal_state;  ///< [B, H, P, N] or null for zeros
  In* dx;                    ///< views of one tensor, like x, B and C
  In* dB;
  In* dC;
  std::int64_t grad_row_stride;
  std::int64_t grad_token_stride;
  Real* ddt;        ///< [B, T, H] contiguous
  Real* dA;         ///< [H]
  Real* dD;         ///< [H]; null where D is
  Real* dstate;     ///< [B, H, P, N], of the state before the window
  Real* workspace;  ///< backward_workspace(shape).size values
};

template <class In, class Real>
struct StepArgs {
  Shape shape;              ///< tokens = 1
  const In* x;              ///< [B, H, P]
  const In* B;              ///< [B, G, N]
  const In* C;              ///< [B, G, N]
  std::int64_t row_stride;  ///< of x, B and C
  const Real* dt;           ///< [B, H]
  std::int64_t dt_row_stride;
  const Real* A;      ///< [H]
  const Real* D;      ///< [H] or null
  const Real* state;  ///< [B, H, P, N]
  In* y;              ///< [B, H, P] written
  Real* next_state;   ///< [B, H, P, N] written; may be `state`
};

}  // namespace foxhunt::kernels::cuda
