#pragma once
// Running over an axis in vectors, with a shorter piece at its end.

#include <stdint.h>

namespace foxhunt::kernels {
namespace {

/// Runs f(c, lanes) over the channels; lanes < kLanes in the last piece only.
template <class V, class F>
inline __attribute__((always_inline)) void over_lanes(int64_t n, F&& f) {
  int64_t c = 0;
  for (; c + V::kLanes <= n; c += V::kLanes) f(c, int64_t{V::kLanes});
  if (c < n) f(c, n - c);
}
template <class V>
inline __attribute__((always_inline)) V load_some(const typename V::Elem* p, int64_t lanes) {
  return lanes == V::kLanes ? V::load(p) : V::load_n(p, lanes);
}
template <class V>
inline __attribute__((always_inline)) void store_some(V v, typename V::Elem* p, int64_t lanes) {
  if (lanes == V::kLanes) {
    v.store(p);
  } else {
    v.store_n(p, lanes);
  }
}

/// Ones, then zeros; and a single one: vectors loaded at an offset are masks.
template <class T>
struct MaskTable {
  T steps[32];
  T unit[31];
};
template <class T>
inline constexpr MaskTable<T> kMasks = {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
/// 1 in the first n lanes, 0 <= n <= kLanes, else 0.
template <class V>
V first_lanes(int64_t n) {
  return V::load(kMasks<typename V::Elem>.steps + 16 - n);
}
/// 1 in lane i, else 0.
template <class V>
V unit_lane(int64_t i) {
  return V::load(kMasks<typename V::Elem>.unit + 15 - i);
}

}  // namespace
}  // namespace foxhunt::kernels
