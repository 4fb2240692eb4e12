#pragma once
// Channels are the vector axis: a vector of channels keeps its taps in registers while time runs.

#include "foxhunt/kernels/conv1d.h"
#include "foxhunt/kernels/isa/lanes.inl.h"
#include "foxhunt/kernels/isa/math.inl.h"

namespace foxhunt::kernels {
namespace {

template <class V>
void conv_forward(const ConvForward<typename V::Elem>& a) noexcept {
  for (int64_t t = 0; t < a.tokens; ++t) {
    over_lanes<V>(a.channels, [&](int64_t c, int64_t lanes) {
      V sum = a.bias == nullptr ? V::zero() : load_some<V>(a.bias + c, lanes);
      for (int64_t k = 0; k < a.width; ++k) {
        sum = fma(load_some<V>(a.weight + k * a.channels + c, lanes),
                  load_some<V>(a.rows[t + k] + c, lanes), sum);
      }
      if (a.pre != nullptr) store_some<V>(sum, a.pre + t * a.ld + c, lanes);
      store_some<V>(sum * sigmoid(sum), a.act + t * a.ld + c, lanes);
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

template <class V>
void conv_backward(const ConvBackward<typename V::Elem>& a) noexcept {
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
