#pragma once
// The backward pass of a chunk: the formulas in the order of ssd_chunk.h, each a product or a pass.
// R is the gradient of the state behind the chunk.

#include "foxhunt/kernels/isa/ssd_chunk.inl.h"

namespace foxhunt::kernels {
namespace {

/// Sums over the lower triangle for one head: dGram += L dM, and into da[t] the sum over
/// i >= t > j of M_ij dM_ij, kept as running column sums.
template <class V>
void chunk_decay_gradient(int64_t q, const typename V::Elem* L, const typename V::Elem* M,
                          int64_t stride, const SsdWorkspace<typename V::Elem>& w) {
  for (int64_t j = 0; j < q; j += V::kLanes) V::zero().store(w.column + j);
  for (int64_t t = q - 1; t >= 0; --t) {
    const int64_t row = t * stride;
    V total = V::zero();
    for (int64_t j = 0; j <= t; j += V::kLanes) {
      const int64_t lanes = t + 1 - j < V::kLanes ? t + 1 - j : V::kLanes;
      const V dM = load_some<V>(w.dM + row + j, lanes);  // not set above the diagonal
      fma(dM, V::load(L + row + j), V::load(w.dGram + row + j)).store(w.dGram + row + j);
      const V column = fma(dM, V::load(M + row + j), V::load(w.column + j));
      column.store(w.column + j);
      total = t - j < V::kLanes ? fma(column, first_lanes<V>(t - j), total) : total + column;
    }
    w.da[t] = total.sum();
  }
}

/// sum over the P channels of one head and token
template <class V>
typename V::Elem head_dot(int64_t P, const typename V::Elem* a, const typename V::Elem* b) {
  V sum = V::zero();
  over_lanes<V>(P, [&](int64_t p, int64_t lanes) {
    sum = fma(load_some<V>(a + p, lanes), load_some<V>(b + p, lanes), sum);
  });
  return sum.sum();
}

/// e^{s_q} <R, S> of one head.
template <class V>
typename V::Elem state_overlap(const SsdShape& shape, int64_t h, const typename V::Elem* R,
                               const typename V::Elem* S, typename V::Elem decay) {
  const int64_t rP = inner_width(shape) / shape.groups;
  const int64_t g = h * shape.groups / shape.heads;
  const int64_t from = g * shape.d_state * rP + h * shape.headdim - g * rP;
  V sum = V::zero();
  for (int64_t n = 0; n < shape.d_state; ++n) {
    over_lanes<V>(shape.headdim, [&](int64_t p, int64_t lanes) {
      const int64_t at = from + n * rP + p;
      sum = fma(load_some<V>(R + at, lanes), load_some<V>(S + at, lanes), sum);
    });
  }
  return sum.sum() * decay;
}

/// Everything of one head: dU, dx, ddt, dA, dD, and its share of the group's dGram.
template <class V>
void chunk_backward_head(const SsdShape& shape, const SsdChunkBackward<typename V::Elem>& a,
                         const SsdWorkspace<typename V::Elem>& w, int64_t h) {
  using T = typename V::Elem;
  const int64_t q = a.tokens;
  const int64_t P = shape.headdim;
  const int64_t inner = inner_width(shape);
  const int64_t stride = w.stride;
  const int64_t from = h * P;
  const T* L = w.L + h * q * stride;
  const T* M = w.M + h * q * stride;
  transpose<V>(q, P, w.U + from, inner, w.Ut, stride);
  gemm<V>(
      {q, q, P, a.dy + from, a.dy_ld, 1, w.Ut, stride, w.dM, stride, false, Triangle::kLowerOut});
  chunk_decay_gradient<V>(q, L, M, stride, w);
  // Terms of da: the state read by i >= t, what j < t left in R, the state carried through.
  if (!a.state_is_zero) {
    T sum = T(0);
    for (int64_t t = q - 1; t >= 0; --t) {
      sum += head_dot<V>(P, a.dy + t * a.dy_ld + from, w.off + t * inner + from);
      w.da[t] += sum;
    }
  }
  if (!a.dstate_is_zero) {
    T sum = a.state_is_zero
                ? T(0)
                : state_overlap<V>(shape, h, a.dstate, a.state, w.decay_in[h * stride + q - 1]);
    for (int64_t t = 0; t < q; ++t) {
      w.da[t] += sum;
      sum += head_dot<V>(P, w.U + t * inner + from, w.dU + t * inner + from);
    }
  }
  gemm<V>({q, P, q, M, 1, stride, a.dy + from, a.dy_ld, w.dU + from, inner, !a.dstate_is_zero,
           Triangle::kUpper});
  T dA = T(0);
  V dD = V::zero();
  const V skip = a.D == nullptr ? V::zero() : V::all(a.D[h]);
  for (int64_t t = 0; t < q; ++t) {
    const T step = a.dt[t * shape.heads + h];
    V direct = V::zero();
    over_lanes<V>(P, [&](int64_t p, int64_t lanes) {
      const V x = load_some<V>(a.x + t * a.ld + from + p, lanes);
      const V dy = load_some<V>(a.dy + t * a.dy_ld + from + p, lanes);
      const V dU = load_some<V>(w.dU + t * inner + from + p, lanes);
      direct = fma(x, dU, direct);
      dD = fma(x, dy, dD);
      store_some<V>(fma(dU, V::all(step), skip * dy), a.dx + t * a.dx_ld + from + p, lanes);
    });
    a.ddt[t * shape.heads + h] = direct.sum() + a.A[h] * w.da[t];
    dA += step * w.da[t];
  }
  a.dA[h] += dA;
  if (a.dD != nullptr) a.dD[h] += dD.sum();
}

template <class V>
void chunk_backward_group(const SsdShape& shape, const SsdChunkBackward<typename V::Elem>& a,
                          const SsdWorkspace<typename V::Elem>& w, int64_t g) {
  using T = typename V::Elem;
  const int64_t q = a.tokens;
  const int64_t N = shape.d_state;
  const int64_t inner = inner_width(shape);
  const int64_t rP = inner / shape.groups;
  const int64_t r = shape.heads / shape.groups;
  const int64_t stride = w.stride;
  const T* R = a.dstate + g * N * rP;
  if (!a.dstate_is_zero) {  // dU = exp(s_q - s_j) R B_j for now
    gemm<V>({q, rP, N, a.B + g * N, a.ld, 1, R, rP, w.dU + g * rP, inner, false});
    for (int64_t t = 0; t < q; ++t) {
      for (int64_t h = g * r; h < (g + 1) * r; ++h) {
        const V decay = V::all(w.decay_out[h * stride + t]);
        T* row = w.dU + t * inner + h * shape.headdim;
        over_lanes<V>(shape.headdim, [&](int64_t p, int64_t lanes) {
          store_some<V>(load_some<V>(row + p, lanes) * decay, row + p, lanes);
        });
      }
    }
  }
  for (int64_t t = 0; t < q; ++t) {
    for (int64_t j = 0; j < q; j += V::kLanes) V::zero().store(w.dGram + t * stride + j);
  }
  for (int64_t h = g * r; h < (g + 1) * r; ++h) chunk_backward_head<V>(shape, a, w, h);
  const T* B = a.B + g * N;
  const T* C = a.C + g * N;
  gemm<V>({q, N, q, w.dGram, stride, 1, B, a.ld, a.dC + g * N, a.dx_ld, false, Triangle::kLower});
  if (!a.state_is_zero) {
    transpose<V>(N, rP, a.state + g * N * rP, rP, w.St, N);
    gemm<V>({q, N, rP, w.EdY + g * rP, inner, 1, w.St, N, a.dC + g * N, a.dx_ld, true});
  }
  gemm<V>({q, N, q, w.dGram, 1, stride, C, a.ld, a.dB + g * N, a.dx_ld, false, Triangle::kUpper});
  if (!a.dstate_is_zero) {
    transpose<V>(N, rP, R, rP, w.Rt, N);
    gemm<V>({q, N, rP, w.W + g * rP, inner, 1, w.Rt, N, a.dB + g * N, a.dx_ld, true});
  }
}

/// R <- exp(s_q) R + sum over i of exp(s_i) dy_i C_i^T
template <class V>
void chunk_backward_state(const SsdShape& shape, const SsdChunkBackward<typename V::Elem>& a,
                          const SsdWorkspace<typename V::Elem>& w) {
  using T = typename V::Elem;
  const int64_t q = a.tokens;
  const int64_t N = shape.d_state;
  const int64_t inner = inner_width(shape);
  const int64_t rP = inner / shape.groups;
  for (int64_t g = 0; g < shape.groups; ++g) {
    T* R = a.dstate + g * N * rP;
    for (int64_t n = 0; n < N && !a.dstate_is_zero; ++n) {
      for (int64_t c = 0; c < rP; c += shape.headdim) {
        const V decay = V::all(w.decay_in[(g * rP + c) / shape.headdim * w.stride + q - 1]);
        T* row = R + n * rP + c;
        over_lanes<V>(shape.headdim, [&](int64_t p, int64_t lanes) {
          store_some<V>(load_some<V>(row + p, lanes) * decay, row + p, lanes);
        });
      }
    }
    gemm<V>({N, rP, q, a.C + g * N, 1, a.ld, w.EdY + g * rP, inner, R, rP, !a.dstate_is_zero});
  }
}

template <class V>
void ssd_chunk_backward(const SsdShape& shape, const SsdChunkBackward<typename V::Elem>& a,
                        const SsdWorkspace<typename V::Elem>& w) noexcept {
  const int64_t inner = inner_width(shape);
  for (int64_t t = 0; t < a.tokens; ++t) {
    over_heads<V>(shape, [&](int64_t c, int64_t lanes, int64_t h) {
      const V decay = V::all(w.decay_in[h * w.stride + t]);
      store_some<V>(load_some<V>(a.dy + t * a.dy_ld + c, lanes) * decay, w.EdY + t * inner + c,
                    lanes);
    });
  }
  for (int64_t g = 0; g < shape.groups; ++g) chunk_backward_group<V>(shape, a, w, g);
  if (a.want_dstate) chunk_backward_state<V>(shape, a, w);
}

}  // namespace
}  // namespace foxhunt::kernels
