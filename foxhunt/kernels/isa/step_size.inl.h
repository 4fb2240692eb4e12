#pragma once
#include "foxhunt/kernels/isa/lanes.inl.h"
#include "foxhunt/kernels/isa/math.inl.h"
#include "foxhunt/kernels/step_size.h"

namespace foxhunt::kernels {
namespace {

template <class V>
void step_size(const StepSize<typename V::Elem>& a) noexcept {
  using T = typename V::Elem;
  for (int64_t t = 0; t < a.tokens; ++t) {
    for (int64_t h = 0; h < a.heads; ++h) {
      a.dt[t * a.heads + h] = a.raw[t * a.raw_ld + h] + a.bias[h];
    }
  }
  const V low = V::all(a.low);
  const V high = V::all(a.high);
  over_lanes<V>(a.tokens * a.heads, [&](int64_t i, int64_t lanes) {
    const V x = load_some<V>(a.dt + i, lanes);
    const V step = softplus(x);
    store_some<V>(min(high, max(low, step)), a.dt + i, lanes);
    if (a.slope == nullptr) return;
    V slope = softplus_slope(x);
    slope = where_less(step, low, V::all(T(0)), slope);
    store_some<V>(where_less(high, step, V::all(T(0)), slope), a.slope + i, lanes);
  });
}

}  // namespace
}  // namespace foxhunt::kernels
