#pragma once
// What forward and backward pass of a chunk share, and the forward pass.

#include "foxhunt/kernels/isa/gemm.inl.h"
#include "foxhunt/kernels/isa/lanes.inl.h"
#include "foxhunt/kernels/isa/math.inl.h"
#include "foxhunt/kernels/isa/transpose.inl.h"
#include "foxhunt/kernels/ssd_chunk.h"

namespace foxhunt::kernels {
namespace {

/// Runs f(offset, lanes, head) over the channels of one token, head by head.
template <class V, class F>
inline __attribute__((always_inline)) void over_heads(const SsdShape& shape, F&& f) {
  for (int64_t h = 0; h < shape.heads; ++h) {
    const int64_t from = h * shape.headdim;
    over_lanes<V>(shape.headdim, [&](int64_t p, int64_t lanes) { f(from + p, lanes, h); });
  }
}

/// Below this a decay counts as total. It keeps products of decays out of the denormal numbers, and
/// what it drops is lost in the rounding of anything it could be added to.
constexpr double kTotalDecay = 1e-30;

/// Products of the decays e_t = exp(dt_t A): from the chunk's start to t, and behind t to its end.
template <class V>
void chunk_decays(const SsdShape& shape, int64_t q, const typename V::Elem* dt,
                  const typename V::Elem* A, const SsdWorkspace<typename V::Elem>& w) {
  using T = typename V::Elem;
  constexpr T kTotal = static_cast<T>(kTotalDecay);
  for (int64_t h = 0; h < shape.heads; ++h) {
    T* decay = w.decay + h * w.stride;
    T* in = w.decay_in + h * w.stride;
    T* out = w.decay_out + h * w.stride;
    T* weight = w.weight_out + h * w.stride;
    for (int64_t t = 0; t < q; ++t) decay[t] = dt[t * shape.heads + h] * A[h];
    over_lanes<V>(q, [&](int64_t t, int64_t lanes) {
      store_some<V>(exp(load_some<V>(decay + t, lanes)), decay + t, lanes);
    });
    T product = T(1);
    for (int64_t t = 0; t < q; ++t) {
      product *= decay[t];
      if (product < kTotal) product = T(0);
      in[t] = product;
    }
    product = T(1);
    for (int64_t t = q - 1; t >= 0; --t) {
      out[t] = product;
      weight[t] = product * dt[t * shape.heads + h];
      product *= decay[t];
      if (product < kTotal) product = T(0);
    }
  }
}

/// L and M of one head from its decays and the group's Gram matrix: down the rows L_ij = L_i-1,j
/// e_i, 1 on the diagonal and 0 above it. A strip of columns stays in a register all the way down.
template <class V>
void chunk_mask(int64_t q, const typename V::Elem* decay, const typename V::Elem* gram,
                int64_t stride, typename V::Elem* L, typename V::Elem* M) {
  using T = typename V::Elem;
  const V total = V::all(static_cast<T>(kTotalDecay));
  for (int64_t j = 0; j < q; j += V::kLanes) {  // rows reach up to a multiple of 16
    for (int64_t i = 0; i < j; ++i) {
      V::zero().store(L + i * stride + j);
      V::zero().store(M + i * stride + j);
    }
    V value = V::zero();
    for (int64_t i = j; i < q; ++i) {
      value = value * V::all(decay[i]);
      value = where_less(value, total, V::zero(), value);
      const int64_t below = i - j;  // whole lanes below the diagonal
      if (below < V::kLanes) value = value + unit_lane<V>(below);
      value.store(L + i * stride + j);
      const int64_t lanes = below + 1 < V::kLanes ? below + 1 : V::kLanes;
      (value * load_some<V>(gram + i * stride + j, lanes)).store(M + i * stride + j);
    }
  }
}

template <class V>
void ssd_chunk_forward(const SsdShape& shape, const SsdChunkForward<typename V::Elem>& a,
                       const SsdWorkspace<typename V::Elem>& w) noexcept {
  using T = typename V::Elem;
  const int64_t q = a.tokens;
  const int64_t N = shape.d_state;
  const int64_t inner = inner_width(shape);
  const int64_t rP = inner / shape.groups;
  const int64_t stride = w.stride;
  chunk_decays<V>(shape, q, a.dt, a.A, w);
  if (!a.state_is_zero) {
    for (int64_t g = 0; g < shape.groups; ++g) {
      gemm<V>(
          {q, rP, N, a.C + g * N, a.ld, 1, a.state + g * N * rP, rP, w.off + g * rP, inner, false});
    }
  }
  for (int64_t t = 0; t < q; ++t) {
    over_heads<V>(shape, [&](int64_t c, int64_t lanes, int64_t h) {
      const V x = load_some<V>(a.x + t * a.ld + c, lanes);
      store_some<V>(x * V::all(a.dt[t * shape.heads + h]), w.U + t * inner + c, lanes);
      store_some<V>(x * V::all(w.weight_out[h * stride + t]), w.W + t * inner + c, lanes);
      V y = a.D == nullptr ? V::zero() : x * V::all(a.D[h]);
      if (!a.state_is_zero) {
        T* off = w.off + t * inner + c;
        const V from_state = load_some<V>(off, lanes) * V::all(w.decay_in[h * stride + t]);
        store_some<V>(from_state, off, lanes);
        y = y + from_state;
      }
      store_some<V>(y, a.y + t * a.y_ld + c, lanes);
    });
  }
  for (int64_t g = 0; g < shape.groups; ++g) {
    T* gram = w.gram + g * q * stride;
    transpose<V>(q, N, a.B + g * N, a.ld, w.Bt, stride);
    gemm<V>(
        {q, q, N, a.C + g * N, a.ld, 1, w.Bt, stride, gram, stride, false, Triangle::kLowerOut});
    const int64_t r = shape.heads / shape.groups;
    for (int64_t h = g * r; h < (g + 1) * r; ++h) {
      T* M = w.M + h * q * stride;
      chunk_mask<V>(q, w.decay + h * stride, gram, stride, w.L + h * q * stride, M);
      gemm<V>({q, shape.headdim, q, M, stride, 1, w.U + h * shape.headdim, inner,
               a.y + h * shape.headdim, a.y_ld, true, Triangle::kLower});
    }
  }
  if (!a.advance) return;
  for (int64_t g = 0; g < shape.groups; ++g) {
    T* state = a.state + g * N * rP;
    for (int64_t n = 0; n < N && !a.state_is_zero; ++n) {
      for (int64_t c = 0; c < rP; c += shape.headdim) {
        const V decay = V::all(w.decay_in[(g * rP + c) / shape.headdim * stride + q - 1]);
        T* row = state + n * rP + c;
        over_lanes<V>(shape.headdim, [&](int64_t p, int64_t lanes) {
          store_some<V>(load_some<V>(row + p, lanes) * decay, row + p, lanes);
        });
      }
    }
    gemm<V>({N, rP, q, a.B + g * N, 1, a.ld, w.W + g * rP, inner, state, rP, !a.state_is_zero});
  }
}

}  // namespace
}  // namespace foxhunt::kernels
