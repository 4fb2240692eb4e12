#pragma once
// One token: S <- exp(dt A) S + dt x B^T, y = S C + D x. A few lanes share one row of a state.

#include <cmath>

#include "foxhunt/kernels/cuda/chunk_states.h"

namespace foxhunt::kernels::cuda {

template <class In, class Real>
struct Step {
  static constexpr const char* kName = "ssd_step";
  static constexpr int kThreads = kRowThreads;
  using Args = StepArgs<In, Real>;
  struct Shared {
    Real partial[kThreads];
  };

  /// Threads of one row of N values.
  FX_HD static int lanes(const Shape& s) { return s.d_state > 16 ? 32 : s.d_state > 8 ? 16 : 8; }
  FX_HD static std::int64_t rows(const Shape& s) { return s.batch * s.heads * s.headdim; }
  FX_HD static std::int64_t items(const Args& a) {
    return ceil_div(rows(a.shape), kThreads / lanes(a.shape));
  }

  template <class Block>
  FX_BLOCK static void run(Block& block, Shared& shared, const Args& a, std::int64_t item) {
    const Shape& s = a.shape;
    const int across = lanes(s);
    const std::int64_t first = item * (kThreads / across);
    block.run([&](int thread) {
      const std::int64_t row = first + thread / across;
      shared.partial[thread] = 0;
      if (row >= rows(s)) return;
      const std::int64_t head = row / s.headdim % s.heads;
      const std::int64_t batch = row / s.headdim / s.heads;
      const std::int64_t group = head / s.heads_per_group();
      const Real dt = a.dt[batch * a.dt_row_stride + head];
      const Real decay = std::exp(dt * a.A[head]);
      const Real drive = dt * widen(a.x[batch * a.row_stride + row % (s.heads * s.headdim)]);
      const In* B = a.B + batch * a.row_stride + group * s.d_state;
      const In* C = a.C + batch * a.row_stride + group * s.d_state;
      Real sum = 0;
      for (std::int64_t n = thread % across; n < s.d_state; n += across) {
        const Real state = decay * a.state[row * s.d_state + n] + drive * widen(B[n]);
        a.next_state[row * s.d_state + n] = state;
        sum += state * widen(C[n]);
      }
      shared.partial[thread] = sum;
    });
    block.run([&](int thread) {
      const std::int64_t row = first + thread;
      if (thread >= kThreads / across || row >= rows(s)) return;
      Real sum = 0;
      for (int lane = 0; lane < across; ++lane) sum += shared.partial[thread * across + lane];
      if (a.D != nullptr) {
        const std::int64_t batch = row / s.headdim / s.heads;
        sum += a.D[row / s.headdim % s.heads] *
               widen(a.x[batch * a.row_stride + row % (s.heads * s.headdim)]);
      }
      narrow(sum, a.y[row]);
    });
  }
};

}  // namespace foxhunt::kernels::cuda
