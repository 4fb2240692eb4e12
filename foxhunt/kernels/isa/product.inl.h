#pragma once
// The loop over panels, once for every weight type. A form says what one instruction does:
//
//   Acc, Input                        registers
//   kLanes, kElement                  outputs a vector, bytes that one of them takes of a group
//   prepare(x, in, scratch)           inputs as the instruction wants them; what a unit is worth
//   input(scratch, k)                 group k for all lanes
//   madd(acc, weights, input)         one vector of weights
//   finish(acc, m, o, worth)          sums as floats: outputs o ..; kParts vectors of V

#include "foxhunt/kernels/step/product.h"

namespace foxhunt::kernels {
namespace {

#define FX_INLINE inline __attribute__((always_inline))

/// Vectors [first, first + NV) of one panel for M streams.
template <class F, unsigned NV, unsigned M, unsigned KS>
void product_block(const PackedMatrix& m, const Product& p, const char* w, int64_t row_bytes,
                   int64_t out, const void* const* scratch, const float* worth) {
  typename F::Acc acc[KS][M][NV];
#pragma GCC unroll 8
  for (unsigned c = 0; c < KS; ++c) {
#pragma GCC unroll 4
    for (unsigned s = 0; s < M; ++s) {
#pragma GCC unroll 12
      for (unsigned v = 0; v < NV; ++v) acc[c][s][v] = F::zero();
    }
  }
  constexpr int64_t kVector = int64_t{F::kLanes} * F::kElement;
  int64_t k = 0;
  for (; k + KS <= m.groups; k += KS) {
#pragma GCC unroll 8
    for (unsigned c = 0; c < KS; ++c, w += row_bytes) {
      typename F::Input x[M];
#pragma GCC unroll 4
      for (unsigned s = 0; s < M; ++s) x[s] = F::input(scratch[s], k + c);
#pragma GCC unroll 12
      for (unsigned v = 0; v < NV; ++v) {
#pragma GCC unroll 4
        for (unsigned s = 0; s < M; ++s) F::madd(acc[c][s][v], w + v * kVector, x[s]);
      }
    }
  }
  for (; k < m.groups; ++k, w += row_bytes) {
#pragma GCC unroll 4
    for (unsigned s = 0; s < M; ++s) {
      const typename F::Input x = F::input(scratch[s], k);
#pragma GCC unroll 12
      for (unsigned v = 0; v < NV; ++v) F::madd(acc[0][s][v], w + v * kVector, x);
    }
  }
#pragma GCC unroll 4
  for (unsigned s = 0; s < M; ++s) {
#pragma GCC unroll 12
    for (unsigned v = 0; v < NV; ++v) {
#pragma GCC unroll 8
      for (unsigned c = 1; c < KS; ++c) acc[0][s][v] = F::sum(acc[0][s][v], acc[c][s][v]);
      const int64_t o = out + int64_t{v} * F::kLanes;
      F::finish(acc[0][s][v], m, o, worth[s], p.gain[s], p.add, p.y[s] + o);
    }
  }
}

template <class F, unsigned NV>
void product_panel(const PackedMatrix& m, const Product& p, const char* w, int64_t out,
                   const void* const* scratch, const float* worth) {
  constexpr unsigned KS = chains_of(NV);
  constexpr int64_t kVector = int64_t{F::kLanes} * F::kElement;
  constexpr int64_t kRow = int64_t{NV} * kVector;
  if (p.streams == 1) {
    product_block<F, NV, 1, KS>(m, p, w, kRow, out, scratch, worth);
    return;
  }
  // Several streams share what registers there are: fewer vectors at a time.
  constexpr unsigned kTake = KS == 1 ? 4 : KS == 2 ? 2 : 1;
  if (p.streams == kMostStreams && KS <= 2) {
    unsigned v = 0;
    for (; v + kTake <= NV; v += kTake) {
      product_block<F, kTake, kMostStreams, KS>(m, p, w + v * kVector, kRow,
                                                out + int64_t{v} * F::kLanes, scratch, worth);
    }
    for (; v < NV; ++v) {
      product_block<F, 1, kMostStreams, KS>(m, p, w + v * kVector, kRow,
                                            out + int64_t{v} * F::kLanes, scratch, worth);
    }
    return;
  }
  for (int64_t s = 0; s < p.streams; ++s) {
    Product one = p;
    one.gain[0] = p.gain[s];
    one.y[0] = p.y[s];
    product_block<F, NV, 1, KS>(m, one, w, kRow, out, scratch + s, worth + s);
  }
}

template <class F>
void product(const PackedMatrix& m, const Product& p) noexcept {
  const void* scratch[kMostStreams];
  float worth[kMostStreams];
  for (int64_t s = 0; s < p.streams; ++s) {
    char* place = static_cast<char*>(p.scratch) + s * padded(m.in) * 4;
    scratch[s] = F::prepare(p.x[s], m.in, place, &worth[s]);
  }
  const char* w = static_cast<const char*>(m.weights);
  int64_t out = 0;
  for (int64_t panel = 0; panel < m.panels; ++panel) {
    const int64_t vectors = m.vectors / m.panels + (panel < m.vectors % m.panels ? 1 : 0);
    switch (vectors) {
#define FX_PANEL(n)                                    \
  case n:                                              \
    product_panel<F, n>(m, p, w, out, scratch, worth); \
    break
      FX_PANEL(1);
      FX_PANEL(2);
      FX_PANEL(3);
      FX_PANEL(4);
      FX_PANEL(5);
      FX_PANEL(6);
      FX_PANEL(7);
      FX_PANEL(8);
      FX_PANEL(9);
      FX_PANEL(10);
      FX_PANEL(11);
      FX_PANEL(12);
#undef FX_PANEL
      default:
        break;
    }
    w += vectors * F::kLanes * F::kElement * m.groups;
    out += vectors * F::kLanes;
  }
}

/// y = gain sum + bias (+ y), in vectors of V.
template <class V>
FX_INLINE void store_output(V sum, const PackedMatrix& m, int64_t o, float gain, bool add,
                            float* y) {
  V value = m.bias != nullptr ? fma(sum, V::all(gain), V::load(m.bias + o)) : sum * V::all(gain);
  if (add) value = value + V::load(y);
  value.store(y);
}

/// Floats as they are.
template <class V>
struct F32Form {
  using Acc = V;
  using Input = V;
  static constexpr int kLanes = V::kLanes;
  static constexpr int kElement = 4;
  static FX_INLINE Acc zero() { return V::zero(); }
  static FX_INLINE const void* prepare(const float* x, int64_t, void*, float*) { return x; }
  static FX_INLINE Input input(const void* x, int64_t k) {
    return V::all(static_cast<const float*>(x)[k]);
  }
  static FX_INLINE void madd(Acc& acc, const char* w, Input x) {
    acc = fma(x, V::load(reinterpret_cast<const float*>(w)), acc);
  }
  static FX_INLINE Acc sum(Acc a, Acc b) { return a + b; }
  static FX_INLINE void finish(Acc acc, const PackedMatrix& m, int64_t o, float, float gain,
                               bool add, float* y) {
    store_output<V>(acc, m, o, gain, add, y);
  }
};

}  // namespace
}  // namespace foxhunt::kernels
