#pragma once
#include "foxhunt/kernels/gemv.h"
#include "foxhunt/kernels/isa/lanes.inl.h"

namespace foxhunt::kernels {
namespace {

/// One panel: kVecs vectors of outputs stay in registers while the inputs run.
template <class V>
void gemv(const Gemv<typename V::Elem>& a) noexcept {
  using T = typename V::Elem;
  constexpr unsigned kVecs = V::kLanes >= 8 ? unsigned{kGemvPanel} / unsigned{V::kLanes} : 8;
  constexpr int64_t kWidth = int64_t{kVecs} * V::kLanes;
  for (int64_t from = 0; from < a.out; from += kWidth) {
    const T* w = a.packed + from / kGemvPanel * kGemvPanel * a.in + from % kGemvPanel;
    V sum[kVecs];
#pragma GCC unroll 8
    for (unsigned v = 0; v < kVecs; ++v) sum[v] = V::zero();
    for (int64_t i = 0; i < a.in; ++i, w += kGemvPanel) {
      const V x = V::all(a.x[i]);
#pragma GCC unroll 8
      for (unsigned v = 0; v < kVecs; ++v) sum[v] = fma(x, V::load(w + v * V::kLanes), sum[v]);
    }
    for (unsigned v = 0; v < kVecs; ++v) {
      const int64_t at = from + v * V::kLanes;
      const int64_t lanes = a.out - at < V::kLanes ? a.out - at : V::kLanes;
      if (lanes <= 0) break;
      if (a.bias != nullptr) sum[v] = sum[v] + load_some<V>(a.bias + at, lanes);
      store_some<V>(sum[v], a.y + at, lanes);
    }
  }
}

}  // namespace
}  // namespace foxhunt::kernels
