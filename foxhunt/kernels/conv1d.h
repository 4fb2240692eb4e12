#pragma once
// Causal depthwise convolution over the time axis with SiLU behind it, over a block of tokens.
//
// Tokens come as row pointers, so that a block may begin in a history buffer and go on in strided
// rows, and no input is ever copied. Plain data only: files compiled with -mavx512f include this.

#include <stdint.h>

namespace foxhunt::kernels {

/// pre[t, c] = bias[c] + sum over k of weight[k, c] rows[t + k][c];   act = silu(pre).
template <class T>
struct ConvForward {
  int64_t tokens, channels, width;  ///< q, C, W >= 1
  const T* const* rows;             ///< q + W - 1 rows [C]; rows[t + W - 1] is token t itself
  const T* weight;                  ///< [W, C] tap-major; the last tap meets the token itself
  const T* bias;                    ///< [C] or null
  T* pre;                           ///< [q, ld] or null
  T* act;                           ///< [q, ld]
  int64_t ld;
};

/// dpre = dact silu'(pre), elementwise. `dpre` may be `dact`.
template <class T>
struct SiluBackward {
  int64_t tokens, channels;
  const T* pre;  ///< [q, pre_ld]
  int64_t pre_ld;
  const T* dact;  ///< [q, ld]
  T* dpre;        ///< [q, ld]
  int64_t ld;
};

/// drow[t] = sum over k of weight[k] dpre[t + W - 1 - k];   dweight[k] += sum over t of dpre[t]
/// rows[t + k];   dbias += sum over t of dpre[t].
template <class T>
struct ConvBackward {
  int64_t tokens, channels, width;
  const T* const* rows;  ///< as in ConvForward; null: only drow is wanted
  const T* const* dpre;  ///< q + W - 1 rows [C]: this block's and the W - 1 that follow it
  const T* weight;       ///< [W, C]
  T* const* drow;        ///< q rows [C], written
  T* dweight;            ///< [W, C] added to
  T* dbias;              ///< [C] added to, or null
};

/// Errors   none: noexcept, no allocation, no check.
/// Numbers  the sums run over k, then over t in order.
/// Cost     2 W flop an element and an exp for silu.
template <class T>
using ConvForwardFn = void (*)(const ConvForward<T>& args) noexcept;
template <class T>
using SiluBackwardFn = void (*)(const SiluBackward<T>& args) noexcept;
template <class T>
using ConvBackwardFn = void (*)(const ConvBackward<T>& args) noexcept;

}  // namespace foxhunt::kernels
