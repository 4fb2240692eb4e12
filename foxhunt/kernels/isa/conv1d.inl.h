#pragma once
// Channels are the vector axis: a vector of channels keeps its taps in registers while time runs.

#include "foxhunt/kernels/conv1d.h"
#include "foxhunt/kernels/isa/lanes.inl.h"
#include "foxhunt/kernels/isa/math.inl.h"

namespace foxhunt::kernels {
namespace {

template <class V>
inline __attribute__((always_inline)) void conv_store(const ConvForward<typename V::Elem>& a, V sum,
                                                      int64_t t, int64_t c, int64_t lanes) {
  if (a.pre != nullptr) store_some<V>(sum, a.pre + t * a.ld + c, lanes);
  store_some<V>(sum * sigmoid(sum), a.act + t * a.ld + c, lanes);
}

/// Four taps, the usual width: weights and the last three inputs stay in registers down the tokens.
template <class V>
void conv_forward4(const ConvForward<typename V::Elem>& a) {
  over_lanes<V>(a.channels, [&](int64_t c, int64_t lanes) {
    const V w0 = load_some<V>(a.weight + c, lanes);
    const V w1 = load_some<V>(a.weight + a.channels + c, lanes);
    const V w2 = load_some<V>(a.weight + 2 * a.channels + c, lanes);
    const V w3 = load_some<V>(a.weight + 3 * a.channels + c, lanes);
    const V bias = a.bias == nullptr ? V::zero() : load_some<V>(a.bias + c, lanes);
    V x0 = load_some<V>(a.rows[0] + c, lanes);
    V x1 = load_some<V>(a.rows[1] + c, lanes);
    V x2 = load_some<V>(a.rows[2] + c, lanes);
    for (int64_t t = 0; t < a.tokens; ++t) {
      const V x3 = load_some<V>(a.rows[t + 3] + c, lanes);
      conv_store<V>(a, fma(w3, x3, fma(w2, x2, fma(w1, x1, fma(w0, x0, bias)))), t, c, lanes);
      x0 = x1;
      x1 = x2;
      x2 = x3;
    }
  });
}

template <class V>
void conv_forward(const ConvForward<typename V::Elem>& a) noexcept {
  if (a.width == 4) return conv_forward4<V>(a);
  for (int64_t t = 0; t < a.tokens; ++t) {
    over_lanes<V>(a.channels, [&](int64_t c, int64_t lanes) {
      V sum = a.bias == nullptr ? V::zero() : load_some<V>(a.bias + c, lanes);
      for (int64_t k = 0; k < a.width; ++k) {
        sum = fma(load_some<V>(a.weight + k * a.channels + c, lanes),
                  load_some<V>(a.rows[t + k] + c, lanes), sum);
      }
      conv_store<V>(a, sum, t, c, lanes);
    });
  }
}

template <class V>
void silu_backward(const SiluBackward<typename V::Elem>& a) noexcept {
  using T = typename V::Elem;
  for (int64_t t = 0; t < a.tokens; ++t) {
    over_lanes<V>(a.channels, [&](int64_t c, int64_t lanes) {
      const V pre = load_some<V>(a.pre + t * a.pre_ld + c, lanes);
      const V open = sigmoid(pre);
      const V slope = open * fma(pre, V::all(T(1)) - open, V::all(T(1)));
      store_some<V>(load_some<V>(a.dact + t * a.ld + c, lanes) * slope, a.dpre + t * a.ld + c,
                    lanes);
    });
  }
}

/// Four taps: both windows slide through registers, four sums run side by side.
template <class V>
void conv_backward4(const ConvBackward<typename V::Elem>& a) {
  using T = typename V::Elem;
  over_lanes<V>(a.channels, [&](int64_t c, int64_t lanes) {
    V w[4], sum[4], x[4], d[4];
    for (int64_t k = 0; k < 4; ++k) {
      w[k] = load_some<V>(a.weight + k * a.channels + c, lanes);
      sum[k] = V::zero();
      x[k] = k < 3 ? load_some<V>(a.rows[k] + c, lanes) : V::zero();
      d[k] = k < 3 ? load_some<V>(a.dpre[k] + c, lanes) : V::zero();
    }
    V bias = V::zero();
    for (int64_t t = 0; t < a.tokens; ++t) {
      x[3] = load_some<V>(a.rows[t + 3] + c, lanes);
      d[3] = load_some<V>(a.dpre[t + 3] + c, lanes);
      store_some<V>(fma(w[0], d[3], fma(w[1], d[2], fma(w[2], d[1], w[3] * d[0]))), a.drow[t] + c,
                    lanes);
      bias = bias + d[0];
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) sum[k] = fma(d[0], x[k], sum[k]);
#pragma GCC unroll 3
      for (int k = 0; k < 3; ++k) {
        x[k] = x[k + 1];
        d[k] = d[k + 1];
      }
    }
    for (int64_t k = 0; k < 4; ++k) {
      T* dweight = a.dweight + k * a.channels + c;
      store_some<V>(load_some<V>(dweight, lanes) + sum[k], dweight, lanes);
    }
    if (a.dbias == nullptr) return;
    store_some<V>(load_some<V>(a.dbias + c, lanes) + bias, a.dbias + c, lanes);
  });
}

template <class V>
void conv_backward(const ConvBackward<typename V::Elem>& a) noexcept {
  if (a.width == 4 && a.rows != nullptr) return conv_backward4<V>(a);
  const int64_t last = a.width - 1;
  for (int64_t t = 0; t < a.tokens; ++t) {
    over_lanes<V>(a.channels, [&](int64_t c, int64_t lanes) {
      V sum = V::zero();
      for (int64_t k = 0; k < a.width; ++k) {
        sum = fma(load_some<V>(a.weight + k * a.channels + c, lanes),
                  load_some<V>(a.dpre[t + last - k] + c, lanes), sum);
      }
      store_some<V>(sum, a.drow[t] + c, lanes);
    });
  }
  if (a.rows == nullptr) return;
  over_lanes<V>(a.channels, [&](int64_t c, int64_t lanes) {
    for (int64_t k = 0; k < a.width; ++k) {
      typename V::Elem* dweight = a.dweight + k * a.channels + c;
      V sum = load_some<V>(dweight, lanes);
      for (int64_t t = 0; t < a.tokens; ++t) {
        sum = fma(load_some<V>(a.dpre[t] + c, lanes), load_some<V>(a.rows[t + k] + c, lanes), sum);
      }
      store_some<V>(sum, dweight, lanes);
    }
    if (a.dbias == nullptr) return;
    V sum = load_some<V>(a.dbias + c, lanes);
    for (int64_t t = 0; t < a.tokens; ++t) sum = sum + load_some<V>(a.dpre[t] + c, lanes);
    store_some<V>(sum, a.dbias + c, lanes);
  });
}

}  // namespace
}  // namespace foxhunt::kernels
