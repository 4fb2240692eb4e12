#pragma once
#include "foxhunt/kernels/isa/lanes.inl.h"
#include "foxhunt/kernels/isa/math.inl.h"
#include "foxhunt/kernels/norm.h"

namespace foxhunt::kernels {
namespace {

/// silu(z) at channel c, or 1 without a gate.
template <class V>
inline __attribute__((always_inline)) V opening(const typename V::Elem* z, int64_t c,
                                                int64_t lanes) {
  using T = typename V::Elem;
  if (z == nullptr) return V::all(T(1));
  const V value = load_some<V>(z + c, lanes);
  return value * sigmoid(value);
}

template <class V>
void gate_norm_row(const GateNormForward<typename V::Elem>& a, int64_t row) {
  using T = typename V::Elem;
  const int64_t size = a.width / a.groups;
  for (int64_t g = 0; g < a.groups; ++g) {
    const int64_t from = g * size;
    const T* y = a.y + row * a.y_ld + from;
    const T* z = a.z == nullptr ? nullptr : a.z + row * a.z_ld + from;
    T* out = a.out + row * a.out_ld + from;
    V squares = V::zero();
    over_lanes<V>(size, [&](int64_t c, int64_t lanes) {
      V q = load_some<V>(y + c, lanes);
      if (a.gate != Gate::kNormFirst) q = q * opening<V>(z, c, lanes);
      squares = fma(q, q, squares);
      store_some<V>(q, out + c, lanes);
    });
    if (a.gate == Gate::kNoNorm) continue;
    const T rstd = T(1) / libm_sqrt(squares.sum() / static_cast<T>(size) + a.eps);
    if (a.rstd != nullptr) a.rstd[row * a.groups + g] = rstd;
    const V scale = V::all(rstd);
    over_lanes<V>(size, [&](int64_t c, int64_t lanes) {
      V q = load_some<V>(out + c, lanes) * scale * load_some<V>(a.weight + from + c, lanes);
      if (a.gate == Gate::kNormFirst) q = q * opening<V>(z, c, lanes);
      store_some<V>(q, out + c, lanes);
    });
  }
}

template <class V>
void gate_norm_forward(const GateNormForward<typename V::Elem>& a) noexcept {
  for (int64_t row = 0; row < a.rows; ++row) gate_norm_row<V>(a, row);
}

/// One row of one group. With q the normed quantity and e = dout w (times silu(z), norm first):
/// dq = rstd (e - q rstd^2 mean(q e));   dw += dout q rstd (times silu(z), norm first).
template <class V>
void gate_norm_backward_group(const GateNormBackward<typename V::Elem>& a, int64_t row,
                              int64_t from, int64_t size, typename V::Elem rstd) {
  using T = typename V::Elem;
  const T* y = a.y + row * a.y_ld + from;
  const T* z = a.z == nullptr ? nullptr : a.z + row * a.z_ld + from;
  const T* dout = a.dout + row * a.dout_ld + from;
  T* dy = a.dy + row * a.dy_ld + from;
  T* dz = a.dz == nullptr ? nullptr : a.dz + row * a.dz_ld + from;
  const V one = V::all(T(1));
  const bool norm = a.gate != Gate::kNoNorm;
  const bool gate_first = a.gate == Gate::kGateFirst;
  V overlap = V::zero();
  if (norm) {
    over_lanes<V>(size, [&](int64_t c, int64_t lanes) {
      V open = one;
      if (z != nullptr) {  // the second pass finds the sigmoid where dz will be
        const V gate = load_some<V>(z + c, lanes);
        const V sig = sigmoid(gate);
        store_some<V>(sig, dz + c, lanes);
        open = gate * sig;
      }
      const V value = load_some<V>(y + c, lanes);
      const V q = gate_first ? value * open : value;
      V d = load_some<V>(dout + c, lanes);
      if (!gate_first) d = d * open;
      overlap = fma(q * d, load_some<V>(a.weight + from + c, lanes), overlap);
    });
  }
  const V scale = V::all(rstd);
  const V pull = norm ? V::all(overlap.sum() * rstd * rstd / static_cast<T>(size)) : V::zero();
  over_lanes<V>(size, [&](int64_t c, int64_t lanes) {
    V open = one;
    V slope = V::zero();
    if (z != nullptr) {
      const V value = load_some<V>(z + c, lanes);
      const V sig = norm ? load_some<V>(dz + c, lanes) : sigmoid(value);
      open = value * sig;
      slope = sig * fma(value, one - sig, one);
    }
    const V value = load_some<V>(y + c, lanes);
    const V d = load_some<V>(dout + c, lanes);
    V weight = one;
    V dq = d;  // gradient of the quantity that the gate multiplies last
    V dgate = d * value;
    if (norm) {
      weight = load_some<V>(a.weight + from + c, lanes);
      const V q = gate_first ? value * open : value;
      const V e = gate_first ? d * weight : d * open * weight;
      const V normed = q * scale;
      T* dweight = a.dweight + from + c;
      const V through = gate_first ? d : d * open;
      store_some<V>(fma(through, normed, load_some<V>(dweight, lanes)), dweight, lanes);
      dq = scale * (e - q * pull);
      dgate = gate_first ? dq * value : d * normed * weight;
      if (gate_first) dq = dq * open;
    } else {
      dq = d * open;
    }
    store_some<V>(dq, dy + c, lanes);
    if (dz != nullptr) store_some<V>(dgate * slope, dz + c, lanes);
  });
}

template <class V>
void gate_norm_backward(const GateNormBackward<typename V::Elem>& a) noexcept {
  using T = typename V::Elem;
  const int64_t size = a.width / a.groups;
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t g = 0; g < a.groups; ++g) {
      const T rstd = a.gate == Gate::kNoNorm ? T(1) : a.rstd[row * a.groups + g];
      gate_norm_backward_group<V>(a, row, g * size, size, rstd);
    }
  }
}

}  // namespace
}  // namespace foxhunt::kernels
