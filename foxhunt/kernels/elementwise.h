#pragma once
// What an optimiser step does to flat arrays: squares, scaled sums, AdamW.
//
// Plain data only: files compiled with -mavx512f include this one.

#include <stdint.h>

namespace foxhunt::kernels {

/// One AdamW step with decoupled decay (Loshchilov & Hutter 2019, as torch.optim.AdamW does it):
///   w <- w - lr decay w;  m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2
///   w <- w - (lr / c1) m / (sqrt(v) / sqrt(c2) + eps)      c = 1 - b^step, g = scale * gradient
template <class T>
struct AdamW {
  int64_t n;
  T* weight;
  T *m, *v;  ///< moments
  const T* gradient;
  T scale;            ///< of the gradient: clipping
  T lr_decay;         ///< lr * weight decay
  T step_size;        ///< lr / c1
  T inverse_root_c2;  ///< 1 / sqrt(c2)
  T beta1, beta2, eps;
};

/// Errors  none: noexcept, no allocation. Numbers: element by element, whatever the table.
template <class T>
using AdamWFn = void (*)(const AdamW<T>& args) noexcept;

/// sum[i] = the parts' elements i, added along the fixed binary tree of their numbers: nodes
/// [j 2^k, (j + 1) 2^k), cut at `parts` (1 <= parts < 2^31). Who sums such nodes elsewhere and adds
/// them along the tree gets the same bits. `sum` may be part[0].
/// Returns the sum of squares of the result, in double, summed over blocks of 4096 in order.
template <class T>
using SumPartsFn = double (*)(int64_t n, int64_t parts, const T* const* part, T* sum) noexcept;

}  // namespace foxhunt::kernels
