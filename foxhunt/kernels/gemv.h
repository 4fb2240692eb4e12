#pragma once
// Packed matrix times vector, for one token: y = W x + bias.
//
// Weights are packed once into panels of kGemvPanel outputs, input by input, so that a step streams
// them through the cache in one pass. Plain data only: files compiled with -mavx512f include this.

#include <stdint.h>

namespace foxhunt::kernels {

inline constexpr int64_t kGemvPanel = 64;

/// Floats of a packed [out, in] matrix: outputs rounded up to whole panels.
inline int64_t gemv_packed_size(int64_t out, int64_t in) {
  return (out + kGemvPanel - 1) / kGemvPanel * kGemvPanel * in;
}

/// packed[(o / 64) * 64 in + i * 64 + o % 64] = weight[o, i]; zeros beyond `out`.
template <class T>
void gemv_pack(int64_t out, int64_t in, const T* weight, T* packed) {
  for (int64_t i = 0; i < gemv_packed_size(out, in); ++i) packed[i] = T(0);
  for (int64_t o = 0; o < out; ++o) {
    T* panel = packed + o / kGemvPanel * kGemvPanel * in + o % kGemvPanel;
    for (int64_t i = 0; i < in; ++i) panel[i * kGemvPanel] = weight[o * in + i];
  }
}

template <class T>
struct Gemv {
  int64_t out, in;
  const T* packed;  ///< of gemv_pack()
  const T* bias;    ///< [out] or null
  const T* x;       ///< [in]
  T* y;             ///< [out]
};

/// Errors  none: noexcept, no allocation. Numbers: sums over the inputs in order.
/// Cost    2 out in flop, reads 4 out in bytes of weights: bound by the cache they lie in.
template <class T>
using GemvFn = void (*)(const Gemv<T>& args) noexcept;

}  // namespace foxhunt::kernels
