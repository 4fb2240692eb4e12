#pragma once
// One token through the state space, for one stream: first the answer, which only reads the old
// state, then the state.
//
//   y  = e (S C) + (B . C) (dt x) + D x         S <- e S + (dt x) B^T         e = exp(dt A)
//
// The state lies as in ssd_chunk.h. Plain data only: files compiled with -mavx512f include this.

#include <stdint.h>

#include "foxhunt/kernels/ssd_chunk.h"

namespace foxhunt::kernels {

template <class T>
struct SsdStep {
  const T* x;      ///< [H P] behind convolution and SiLU
  const T *B, *C;  ///< [G, N]
  const T* dt;     ///< [H]
  const T* A;      ///< [H] <= 0
  const T* D;      ///< [H] or null
  T* state;        ///< [G, N, r P]
  T* y;            ///< [H P] written by answer(); null for advance()
  T* decay;        ///< [H] written by answer(), read by advance()
};

/// Errors   none: noexcept, no allocation, no check.
/// Cost     answer: 4 N P H flop, reads the state once; advance: 3 N P H flop, reads and writes it.
template <class T>
using SsdStepFn = void (*)(const SsdShape& shape, const SsdStep<T>& args) noexcept;

}  // namespace foxhunt::kernels
