#pragma once
// What forward and backward pass of a chunk share, and the forward pass.

#include "foxhunt/kernels/isa/conv1d.inl.h"
#include "foxhunt/kernels/isa/gemm.inl.h"
#include "foxhunt/kernels/isa/math.inl.h"
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

/// out[c, t] = in[t, c]
template <class T>
void transpose(int64_t rows, int64_t columns, const T* in, int64_t in_row, T* out,
               int64_t out_row) {
  for (int64_t r0 = 0; r0 < rows; r0 += 8) {
    const int64_t r1 = r0 + 8 < rows ? r0 + 8 : rows;
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = r0; r < r1; ++r) out[c * out_row + r] = in[r * in_row + c];
    }
  }
}

template <class V>
void chunk_decays(const SsdShape& shape, int64_t q, const typename V::Elem* dt,
                  const typename V::Elem* A, const SsdWorkspace<typename V::Elem>& w) {
  using T = typename V::Elem;
  for (int64_t h = 0; h < shape.heads; ++h) {
    T* s = w.s + h * w.stride;
    T* step = w.weight_out + h * w.stride;  // dt for now
    T* rest = w.s_rest + h * w.stride;
    double sum = 0.0;
    for (int64_t t = 0; t < q; ++t) {
      step[t] = dt[t * shape.heads + h];
      sum += static_cast<double>(step[t]) * static_cast<double>(A[h]);
      s[t] = static_cast<T>(sum);
      rest[t] = static_cast<T>(sum - static_cast<double>(s[t]));
    }
    const V last = V::all(s[q - 1]);
    const V last_rest = V::all(rest[q - 1]);
    over_lanes<V>(q, [&](int64_t t, int64_t lanes) {
      const V st = load_some<V>(s + t, lanes);
      store_some<V>(exp(st), w.decay_in + h * w.stride + t, lanes);
      const V apart = (last - st) + (last_rest - load_some<V>(rest + t, lanes));
      const V out = exp(min(V::zero(), apart));
      store_some<V>(out, w.decay_out + h * w.stride + t, lanes);
      store_some<V>(out * load_some<V>(step + t, lanes), step + t, lanes);
    });
  }
}

/// L and M of one head from its sums and the group's Gram matrix; zeros above the diagonal.
template <class V>
void chunk_mask(int64_t q, const typename V::Elem* s, const typename V::Elem* rest,
                const typename V::Elem* gram, int64_t stride, typename V::Elem* L,
                typename V::Elem* M) {
  for (int64_t i = 0; i < q; ++i) {
    const V si = V::all(s[i]);
    const V ri = V::all(rest[i]);
    const int64_t row = i * stride;
    for (int64_t j = 0; j < q; j += V::kLanes) {
      const int64_t lanes = i + 1 - j;
      if (lanes < V::kLanes) {  // rows of L and M reach up to a multiple of 16
        V::zero().store(L + row + j);
        V::zero().store(M + row + j);
      }
      if (lanes <= 0) continue;
      const int64_t n = lanes < V::kLanes ? lanes : V::kLanes;
      const V apart = (si - load_some<V>(s + j, n)) + (ri - load_some<V>(rest + j, n));
      const V decay = exp(min(V::zero(), apart));
      store_some<V>(decay, L + row + j, n);
      store_some<V>(decay * load_some<V>(gram + row + j, n), M + row + j, n);
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
    transpose(q, N, a.B + g * N, a.ld, w.Bt, stride);
    gemm<V>(
        {q, q, N, a.C + g * N, a.ld, 1, w.Bt, stride, gram, stride, false, Triangle::kLowerOut});
    const int64_t r = shape.heads / shape.groups;
    for (int64_t h = g * r; h < (g + 1) * r; ++h) {
      T* M = w.M + h * q * stride;
      chunk_mask<V>(q, w.s + h * stride, w.s_rest + h * stride, gram, stride, w.L + h * q * stride,
                    M);
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
