#pragma once
// RMS norm, and the gate with its grouped RMS norm behind the state space, row by row.
//
// Plain data only: files compiled with -mavx512f include this one.

#include <stdint.h>

namespace foxhunt::kernels {

/// Where the gate meets the norm.
enum class Gate {
  kGateFirst,  ///< rms(y silu(z)) w
  kNormFirst,  ///< rms(y) w silu(z)
  kNoNorm,     ///< y silu(z)
};

/// rms(q) = q (mean of q^2 over the group + eps)^-1/2, groups of width / groups channels.
template <class T>
struct GateNormForward {
  int64_t rows, width, groups;
  Gate gate;
  T eps;
  const T* y;  ///< [rows, y_ld]
  int64_t y_ld;
  const T* z;  ///< [rows, z_ld]; null: silu(z) is 1 (a plain RMS norm)
  int64_t z_ld;
  const T* weight;  ///< [width]; null with kNoNorm
  T* out;           ///< [rows, out_ld]; may be y
  int64_t out_ld;
  T* rstd;  ///< [rows, groups] or null; not written with kNoNorm
};

template <class T>
struct GateNormBackward {
  int64_t rows, width, groups;
  Gate gate;
  const T* y;
  int64_t y_ld;
  const T* z;  ///< null as in the forward pass
  int64_t z_ld;
  const T* weight;
  const T* rstd;  ///< of the forward pass
  const T* dout;  ///< [rows, dout_ld]
  int64_t dout_ld;
  T* dy;  ///< [rows, dy_ld] written; may be dout
  int64_t dy_ld;
  T* dz;  ///< [rows, dz_ld] written; null without z
  int64_t dz_ld;
  T* dweight;  ///< [width] added to, rows in order
};

/// Errors   none: noexcept, no allocation, no check.
/// Numbers  the mean is a sum over lanes, then across them: within a few roundings.
/// Cost     one pass for the mean, one for the result; an exp an element with a gate.
template <class T>
using GateNormForwardFn = void (*)(const GateNormForward<T>& args) noexcept;
template <class T>
using GateNormBackwardFn = void (*)(const GateNormBackward<T>& args) noexcept;

}  // namespace foxhunt::kernels
