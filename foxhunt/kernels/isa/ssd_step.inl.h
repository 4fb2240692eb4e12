#pragma once
#include "foxhunt/kernels/isa/lanes.inl.h"
#include "foxhunt/kernels/isa/math.inl.h"
#include "foxhunt/kernels/ssd_step.h"

namespace foxhunt::kernels {
namespace {

/// The answer; leaves the state as it was.
template <class V>
void ssd_answer(const SsdShape& shape, const SsdStep<typename V::Elem>& a) noexcept {
  using T = typename V::Elem;
  const int64_t N = shape.d_state;
  const int64_t P = shape.headdim;
  const int64_t r = shape.heads / shape.groups;
  for (int64_t h = 0; h < shape.heads; ++h) {
    const int64_t g = h / r;
    const T* B = a.B + g * N;
    const T* C = a.C + g * N;
    T direct = T(0);
    for (int64_t n = 0; n < N; ++n) direct += B[n] * C[n];
    const V decay = exp(V::all(a.dt[h] * a.A[h]));
    decay.store_n(a.decay + h, 1);
    const V skip = V::all(direct * a.dt[h] + (a.D == nullptr ? T(0) : a.D[h]));
    const T* state = a.state + g * N * r * P + (h - g * r) * P;
    over_lanes<V>(P, [&](int64_t p, int64_t lanes) {
      V sum = V::zero();
      for (int64_t n = 0; n < N; ++n) {
        sum = fma(load_some<V>(state + n * r * P + p, lanes), V::all(C[n]), sum);
      }
      const V x = load_some<V>(a.x + h * P + p, lanes);
      store_some<V>(fma(sum, decay, x * skip), a.y + h * P + p, lanes);
    });
  }
}

/// The state, with the decay that ssd_answer left.
template <class V>
void ssd_advance(const SsdShape& shape, const SsdStep<typename V::Elem>& a) noexcept {
  const int64_t N = shape.d_state;
  const int64_t P = shape.headdim;
  const int64_t r = shape.heads / shape.groups;
  for (int64_t h = 0; h < shape.heads; ++h) {
    const int64_t g = h / r;
    auto* state = a.state + g * N * r * P + (h - g * r) * P;
    const V decay = V::all(a.decay[h]);
    over_lanes<V>(P, [&](int64_t p, int64_t lanes) {
      const V input = load_some<V>(a.x + h * P + p, lanes) * V::all(a.dt[h]);
      for (int64_t n = 0; n < N; ++n) {
        auto* row = state + n * r * P + p;
        const V kept = load_some<V>(row, lanes) * decay;
        store_some<V>(fma(input, V::all(a.B[g * N + n]), kept), row, lanes);
      }
    });
  }
}

}  // namespace
}  // namespace foxhunt::kernels
