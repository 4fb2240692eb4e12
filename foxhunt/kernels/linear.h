#pragma once
// y = x W^T + b and its gradients, over a table's matrix kernel.

#include <algorithm>
#include <cstdint>

#include "foxhunt/kernels/kernel_table.h"
#include "foxhunt/kernels/ssd_workspace.h"

namespace foxhunt::kernels {

/// A weight [out, in] as the matrix kernel wants it on its right side: [in, out].
template <class T>
struct TurnedWeight {
  TurnedWeight(const KernelTableOf<T>& kernels, std::int64_t inputs, std::int64_t outputs,
               const T* weight)
      : in(inputs), out(outputs), values(inputs * outputs) {
    kernels.transpose(out, in, weight, in, values.data(), out);
  }
  const std::int64_t in, out;
  Scratch<T> values;
};

/// y [rows, out] = x [rows, in] weight^T, plus bias [out] or null; added to what y holds if
/// `accumulate`.
template <class T>
void linear_forward(const KernelTableOf<T>& kernels, std::int64_t rows, const T* x,
                    const TurnedWeight<T>& weight, const T* bias, T* y, bool accumulate) {
  const std::int64_t out = weight.out;
  for (std::int64_t i = 0; bias != nullptr && i < rows * out; ++i) {
    y[i] = bias[i % out] + (accumulate ? y[i] : T(0));
  }
  kernels.gemm({rows, out, weight.in, x, weight.in, 1, weight.values.data(), out, y, out,
                accumulate || bias != nullptr});
}

/// dx [rows, in] = dy weight, written.
template <class T>
void linear_backward_input(const KernelTableOf<T>& kernels, std::int64_t rows, std::int64_t in,
                           std::int64_t out, const T* dy, const T* weight, T* dx) {
  kernels.gemm({rows, in, out, dy, out, 1, weight, in, dx, in, false});
}

/// dweight [out, in] += dy^T x, dbias [out] or null += column sums of dy; 512 rows at a time, so
/// that a piece of both sides stays in the cache.
template <class T>
void linear_backward_weight(const KernelTableOf<T>& kernels, std::int64_t rows, std::int64_t in,
                            std::int64_t out, const T* dy, const T* x, T* dweight, T* dbias) {
  constexpr std::int64_t kDepth = 512;
  const T one = T(1);
  for (std::int64_t from = 0; from < rows; from += kDepth) {
    const std::int64_t depth = std::min(kDepth, rows - from);
    kernels.gemm({out, in, depth, dy + from * out, 1, out, x + from * in, in, dweight, in, true});
    if (dbias == nullptr) continue;
    kernels.gemm({1, out, depth, &one, 0, 0, dy + from * out, out, dbias, out, true});
  }
}

}  // namespace foxhunt::kernels
