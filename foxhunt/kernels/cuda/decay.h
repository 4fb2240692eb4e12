#pragma once
// The decays of one chunk of one head.
//
// s_i is the sum of dt A from the start of the chunk, or of i's segment in it, up to i. It is taken
// in float64 by each thread for itself, in the order of tokens: the sums fall, and no bit of one
// segment enters those of another. It is kept as two Reals, so that a difference of two sums is as
// exact as the difference itself: sums reach -2.5e6 (64 tokens of dt A = -4e4), where a float is
// 0.25 wide. A decay is one exponential of a difference that is at most 0, never a quotient of two.

#include <cmath>

#include "foxhunt/kernels/cuda/plan.h"

namespace foxhunt::kernels::cuda {

template <class Real, int Q>
struct Decays {
  Array<Real, Q> dt;         ///< 0 behind the last token
  Array<Real, Q> high, low;  ///< s_i
  Array<Real, Q> into;       ///< exp(s_i): from the entering state to token i; 0 across a boundary
  Array<Real, Q> tail;       ///< exp(s_q - s_j): from token j to the leaving state
  Array<std::int64_t, Q> segment;
  std::int64_t before;  ///< segment in front of the chunk
  Real through;         ///< exp(s_q): from the entering to the leaving state
  int length;

  /// exp(s_i - s_j) where j <= i share a segment, else 0.
  FX_BLOCK Real within(int i, int j) const {
    if (j > i || i >= length || segment[i] != segment[j]) return 0;
    return between(i, j);
  }
  FX_BLOCK Real between(int i, int j) const {
    const Real difference = (high[i] - high[j]) + (low[i] - low[j]);
    return std::exp(difference < 0 ? difference : Real(0));
  }
};

template <class In, class Real, int Q, class Block>
FX_BLOCK void load_decays(Block& block, Decays<Real, Q>& d, const Shape& shape,
                          const Inputs<In, Real>& in, const Place& place) {
  block.run([&](int thread) {
    if (thread >= Q) return;
    const bool inside = thread < place.length;
    d.dt[thread] = inside ? in.dt[dt_offset(in, place) + thread * in.dt_token_stride] : Real(0);
    const std::int64_t* segments =
        in.segments == nullptr ? nullptr : in.segments + place.row * shape.tokens + place.start;
    d.segment[thread] = inside && segments != nullptr ? segments[thread] : 0;
    if (thread != 0) return;
    d.length = place.length;
    d.before = place.chunk > 0 && segments != nullptr ? segments[-1] : 0;
  });
  block.run([&](int thread) {
    if (thread >= Q) return;
    const double A = static_cast<double>(in.A[place.head]);
    double sum = 0.0;
    for (int k = 0; k <= thread; ++k) {
      if (d.segment[k] == d.segment[thread]) sum += static_cast<double>(d.dt[k]) * A;
    }
    d.high[thread] = static_cast<Real>(sum);
    d.low[thread] = static_cast<Real>(sum - static_cast<double>(d.high[thread]));
  });
  block.run([&](int thread) {
    if (thread >= Q) return;
    const int last = d.length - 1;
    const Real s = d.high[thread] + d.low[thread];
    const bool inside = thread < d.length;
    d.into[thread] =
        inside && d.segment[thread] == d.before ? std::exp(s < 0 ? s : Real(0)) : Real(0);
    d.tail[thread] =
        inside && d.segment[thread] == d.segment[last] ? d.between(last, thread) : Real(0);
    if (thread == last) d.through = d.into[thread];
  });
}

}  // namespace foxhunt::kernels::cuda
