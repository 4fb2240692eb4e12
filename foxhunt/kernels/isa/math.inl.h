#pragma once
// exp, softplus, sigmoid, silu over vectors, with stated errors. Float vectors use the polynomials
// below; the one-lane types (float and double) use libm.
//
// Errors, against float64, over the whole range (math_test.cpp): exp 2 ulp where the result is
// normal, 0 below -104; log1p on [0, 1] and softplus 4 ulp; sigmoid and silu 4 ulp. NaN stays NaN.

#include "foxhunt/kernels/isa/vec_scalar.h"

namespace foxhunt::kernels {
namespace {

/// e^(sign x) = 2^n e^r with n = round(sign x / ln 2), |r| <= ln 2 / 2, for |x| <= 150; e^r by the
/// polynomial that meets it at the Chebyshev nodes (2.5e-9, relative).
template <class V, int sign>
inline __attribute__((always_inline)) V exp_between(V x) {
  constexpr float s = sign;
  const V n = V::round(x * V::all(s * 1.44269504088896341F));
  V r = fma(n, V::all(-s * 0.693145751953125F), x);  // sign r
  r = fma(n, V::all(-s * 1.42860682030941723e-6F), r);
  V p = V::all(0.0013941160754550718F);
  p = fma(p, r, V::all(s * 0.008375168288974175F));
  p = fma(p, r, V::all(0.04166635226806994F));
  p = fma(p, r, V::all(s * 0.1666641501129017F));
  p = fma(p, r, V::all(0.5000000047259401F));
  p = fma(p, r, V::all(s));
  p = fma(p, r, V::all(1.0F));
  return V::scale2(p, n);
}

template <class V>
V exp(V x) {
  if constexpr (!V::kOwnMath) {
    return {libm_exp(x.v)};
  } else {
    return exp_between<V, 1>(min(V::all(89.0F), max(V::all(-105.0F), x)));
  }
}

/// log(1 + u) for u in [0, 1]: 2 atanh(s) with s = u / (2 + u) <= 1/3, odd series to s^15.
template <class V>
V log1p_unit(V u) {
  if constexpr (!V::kOwnMath) {
    return {libm_log1p(u.v)};
  } else {
    const V s = u * V::reciprocal(V::all(2.0F) + u);
    const V q = s * s;
    V p = V::all(1.0F / 15.0F);
    p = fma(p, q, V::all(1.0F / 13.0F));
    p = fma(p, q, V::all(1.0F / 11.0F));
    p = fma(p, q, V::all(1.0F / 9.0F));
    p = fma(p, q, V::all(1.0F / 7.0F));
    p = fma(p, q, V::all(1.0F / 5.0F));
    p = fma(p, q, V::all(1.0F / 3.0F));
    p = fma(p * q, s, s);
    return p + p;
  }
}

/// log(1 + e^x), x above 20; never forms e^x for large x.
template <class V>
V softplus(V x) {
  using T = typename V::Elem;
  const V zero = V::zero();
  const V positive = max(zero, x);
  const V u = exp(zero - max(zero - x, x));  // e^-|x|
  return where_less(V::all(T(20)), x, x, positive + log1p_unit(u));
}

/// Float vectors take every x below -80 for -80: 2e-35, where silu is zero to any sum.
template <class V>
V sigmoid(V x) {
  using T = typename V::Elem;
  if constexpr (!V::kOwnMath) {
    return V::all(T(1)) / (V::all(T(1)) + exp(V::zero() - x));
  } else {
    const V c = min(V::all(105.0F), max(V::all(-80.0F), x));
    return V::reciprocal(V::all(1.0F) + exp_between<V, -1>(c));
  }
}

/// Derivative of softplus as defined above: sigmoid, 1 above 20.
template <class V>
V softplus_slope(V x) {
  using T = typename V::Elem;
  return where_less(V::all(T(20)), x, V::all(T(1)), sigmoid(x));
}

}  // namespace
}  // namespace foxhunt::kernels
