#pragma once
// All CPU kernels of one instruction set, as a table of plain functions.
//
// A table is picked once and handed to whoever computes; there is no global "active" table, so a
// test can run two side by side.

#include "foxhunt/kernels/conv1d.h"
#include "foxhunt/kernels/elementwise.h"
#include "foxhunt/kernels/gemm.h"
#include "foxhunt/kernels/norm.h"
#include "foxhunt/kernels/ssd_chunk.h"
#include "foxhunt/kernels/step_size.h"

namespace foxhunt::kernels {

/// out[i] = f(in[i]), i < n; exp, log(1 + e^x), x / (1 + e^-x). Errors as isa/math.inl.h states.
template <class T>
using MapFn = void (*)(int64_t n, const T* in, T* out) noexcept;

/// out[c, r] = in[r, c] over [rows, columns].
template <class T>
using TransposeFn = void (*)(int64_t rows, int64_t columns, const T* in, int64_t in_row, T* out,
                             int64_t out_row) noexcept;

template <class T>
struct KernelTableOf {
  const char* name;              ///< "scalar", "avx2", "avx512"; "float64"
  bool (*runs_here)() noexcept;  ///< by this CPU and operating system
  MapFn<T> exp, softplus, silu;
  TransposeFn<T> transpose;
  GemmFn<T> gemm;
  ConvForwardFn<T> conv_forward;
  SiluBackwardFn<T> silu_backward;
  ConvBackwardFn<T> conv_backward;
  StepSizeFn<T> step_size;
  GateNormForwardFn<T> gate_norm_forward;
  GateNormBackwardFn<T> gate_norm_backward;
  SsdChunkForwardFn<T> ssd_chunk_forward;
  SsdChunkBackwardFn<T> ssd_chunk_backward;
  AdamWFn<T> adamw;
  SumPartsFn<T> sum_parts;
};
using KernelTable = KernelTableOf<float>;

extern const KernelTable kScalarKernels;
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;
/// The same algorithms in double: what rounding alone does not explain shows here.
extern const KernelTableOf<double> kFloat64Kernels;

}  // namespace foxhunt::kernels
