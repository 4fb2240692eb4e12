#pragma once
// The backward pass, last part: sums over heads and over rows, each in one fixed order. No atomics:
// two runs give the same bits.

#include "foxhunt/kernels/cuda/chunk_states.h"

namespace foxhunt::kernels::cuda {

/// dB and dC of a group from those of its heads, in the order of heads.
template <class In, class Real>
struct SumHeads {
  static constexpr const char* kName = "ssd_sum_heads";
  static constexpr int kThreads = kRowThreads;
  using Args = BackwardArgs<In, Real>;
  using Shared = NoShared;

  FX_HD static std::int64_t values(const Shape& s) {
    return s.batch * s.tokens * s.groups * s.d_state;
  }
  FX_HD static std::int64_t items(const Args& a) { return ceil_div(values(a.shape), kThreads); }

  template <class Block>
  FX_BLOCK static void run(Block& block, Shared&, const Args& a, std::int64_t item) {
    block.run([&](int thread) {
      const Shape& s = a.shape;
      const std::int64_t index = item * kThreads + thread;
      if (index >= values(s)) return;
      const std::int64_t n = index % s.d_state;
      const std::int64_t group = index / s.d_state % s.groups;
      const std::int64_t token = index / s.d_state / s.groups;  // of [B T]
      const std::int64_t first = (token * s.heads + group * s.heads_per_group()) * s.d_state + n;
      const Real* dB = a.workspace + backward_workspace(s).dB + first;
      const Real* dC = a.workspace + backward_workspace(s).dC + first;
      Real sum_B = 0;
      Real sum_C = 0;
      for (std::int64_t h = 0; h < s.heads_per_group(); ++h) {
        sum_B += dB[h * s.d_state];
        sum_C += dC[h * s.d_state];
      }
      const std::int64_t out = token / s.tokens * a.grad_row_stride +
                               token % s.tokens * a.grad_token_stride + group * s.d_state + n;
      narrow(sum_B, a.dB[out]);
      narrow(sum_C, a.dC[out]);
    });
  }
};

template <class Real>
struct SumRowsArgs {
  Shape shape;         ///< for the text of an error
  const Real* values;  ///< [rows, width]
  std::int64_t rows;
  std::int64_t width;
  std::int64_t stripes;  ///< of rows, each summed by one block
  Real* out;             ///< [stripes, width]
};

/// Sums of columns over stripes of rows, in float64.
template <class Real>
struct SumRows {
  static constexpr const char* kName = "ssd_sum_rows";
  static constexpr int kThreads = kRowThreads;
  using Args = SumRowsArgs<Real>;
  struct Shared {
    double partial[kThreads];
    double rows[16];
  };

  FX_HD static std::int64_t items(const Args& a) { return a.stripes * a.width; }

  template <class Block>
  FX_BLOCK static void run(Block& block, Shared& shared, const Args& a, std::int64_t item) {
    const std::int64_t column = item % a.width;
    const std::int64_t stripe = item / a.width;
    const std::int64_t length = ceil_div(a.rows, a.stripes);
    const std::int64_t start = stripe * length;
    const std::int64_t end = least(a.rows, start + length);
    block.run([&](int thread) {
      double sum = 0.0;
      for (std::int64_t r = start + thread; r < end; r += kThreads)
        sum += static_cast<double>(a.values[r * a.width + column]);
      shared.partial[thread] = sum;
    });
    block.run([&](int thread) {
      if (thread >= 16) return;
      double sum = 0.0;
      for (int i = 0; i < kThreads / 16; ++i) sum += shared.partial[thread * (kThreads / 16) + i];
      shared.rows[thread] = sum;
    });
    block.run([&](int thread) {
      if (thread != 0) return;
      double sum = 0.0;
      for (const double row : shared.rows) sum += row;
      a.out[stripe * a.width + column] = static_cast<Real>(sum);
    });
  }
};

}  // namespace foxhunt::kernels::cuda
