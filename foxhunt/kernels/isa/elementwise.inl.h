#pragma once
#include "foxhunt/kernels/elementwise.h"
#include "foxhunt/kernels/isa/lanes.inl.h"

namespace foxhunt::kernels {
namespace {

template <class V>
V root(V x) {
  if constexpr (V::kLanes == 1) {
    return {libm_sqrt(x.v)};
  } else {
    return V::sqrt(x);
  }
}

template <class V>
void adamw(const AdamW<typename V::Elem>& a) noexcept {
  using T = typename V::Elem;
  const V keep = V::all(T(1) - a.lr_decay);
  const V beta1 = V::all(a.beta1);
  const V beta2 = V::all(a.beta2);
  const V rest1 = V::all(T(1) - a.beta1);
  const V rest2 = V::all(T(1) - a.beta2);
  over_lanes<V>(a.n, [&](int64_t i, int64_t lanes) {
    const V g = load_some<V>(a.gradient + i, lanes) * V::all(a.scale);
    const V m = fma(beta1, load_some<V>(a.m + i, lanes), rest1 * g);
    const V v = fma(beta2, load_some<V>(a.v + i, lanes), rest2 * g * g);
    const V divisor = fma(root(v), V::all(a.inverse_root_c2), V::all(a.eps));
    const V weight = load_some<V>(a.weight + i, lanes) * keep;
    store_some<V>(m, a.m + i, lanes);
    store_some<V>(v, a.v + i, lanes);
    store_some<V>(weight - V::all(a.step_size) * m / divisor, a.weight + i, lanes);
  });
}

template <class V>
double sum_parts(int64_t n, int64_t parts, const typename V::Elem* const* part,
                 typename V::Elem* sum) noexcept {
  constexpr int64_t kBlock = 4096;
  double squares = 0.0;
  for (int64_t from = 0; from < n; from += kBlock) {
    V block = V::zero();
    over_lanes<V>(from + kBlock < n ? kBlock : n - from, [&](int64_t i, int64_t lanes) {
      V total = load_some<V>(part[0] + from + i, lanes);
      for (int64_t p = 1; p < parts; ++p) total = total + load_some<V>(part[p] + from + i, lanes);
      store_some<V>(total, sum + from + i, lanes);
      block = fma(total, total, block);
    });
    squares += static_cast<double>(block.sum());
  }
  return squares;
}

}  // namespace
}  // namespace foxhunt::kernels
