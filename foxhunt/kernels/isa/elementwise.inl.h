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

template <int64_t parts>
struct Count {
  static constexpr int64_t kParts = parts;
};

/// Element i of every part, summed over the fixed binary tree of part numbers: nodes
/// [j 2^k, (j + 1) 2^k), cut at the number of parts. Whoever sums such nodes elsewhere and adds
/// them along the tree gets the same bits.
template <class V>
V sum_tree(int64_t parts, const typename V::Elem* const* part, int64_t i, int64_t lanes) {
  const auto one = [&](int64_t p) { return load_some<V>(part[p] + i, lanes); };
  const auto two = [&](int64_t p) { return one(p) + one(p + 1); };
  const auto four = [&](int64_t p) { return two(p) + two(p + 2); };
  // Behind the last whole eight: nodes of 4, 2 and 1, folded from the right.
  const int64_t eights = parts & ~int64_t{7};
  const int64_t rest = parts & 7;
  V total = V::zero();
  if ((rest & 1) != 0) total = one(parts - 1);
  if ((rest & 2) != 0) {
    const V node = two(eights + (rest & 4));
    total = (rest & 1) != 0 ? node + total : node;
  }
  if ((rest & 4) != 0) {
    const V node = four(eights);
    total = (rest & 3) != 0 ? node + total : node;
  }
  if (eights == 0) return total;
  V open[32];  // nodes that wait for the one to their right
  int64_t depth = 0;
  for (int64_t p = 0; p < eights; p += 8) {
    V node = four(p) + four(p + 4);
    for (int64_t k = p >> 3; (k & 1) != 0; k >>= 1) node = open[--depth] + node;
    open[depth++] = node;
  }
  if (rest == 0) total = open[--depth];
  while (depth > 0) total = open[--depth] + total;
  return total;
}

/// sum[i] = total(i, lanes) over [0, n); its squares by blocks.
template <class V, class Total>
double store_and_square(int64_t n, typename V::Elem* sum, Total&& total) {
  constexpr int64_t kBlock = 4096;
  double squares = 0.0;
  for (int64_t from = 0; from < n; from += kBlock) {
    V block = V::zero();
    over_lanes<V>(from + kBlock < n ? kBlock : n - from, [&](int64_t i, int64_t lanes) {
      const V value = total(from + i, lanes);
      store_some<V>(value, sum + from + i, lanes);
      block = fma(value, value, block);
    });
    squares += static_cast<double>(block.sum());
  }
  return squares;
}

template <class V>
double sum_parts(int64_t n, int64_t parts, const typename V::Elem* const* part,
                 typename V::Elem* sum) noexcept {
  // The usual numbers of lanes are worth a loop without branches.
  const auto fixed = [&](auto count) {
    return store_and_square<V>(n, sum, [&](int64_t i, int64_t lanes) {
      return sum_tree<V>(decltype(count)::kParts, part, i, lanes);
    });
  };
  switch (parts) {
    case 1:
      return fixed(Count<1>());
    case 2:
      return fixed(Count<2>());
    case 4:
      return fixed(Count<4>());
    case 8:
      return fixed(Count<8>());
    default:
      return store_and_square<V>(
          n, sum, [&](int64_t i, int64_t lanes) { return sum_tree<V>(parts, part, i, lanes); });
  }
}

}  // namespace
}  // namespace foxhunt::kernels
