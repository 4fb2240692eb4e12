#pragma once
// The step size of the state space: clamp(softplus(raw + bias), low, high), and its slope.
//
// Plain data only: files compiled with -mavx512f include this one.

#include <stdint.h>

namespace foxhunt::kernels {

template <class T>
struct StepSize {
  int64_t tokens, heads;
  const T* raw;  ///< [q, raw_ld] in_proj's last H columns
  int64_t raw_ld;
  const T* bias;  ///< [H]
  T low, high;    ///< 0 <= low <= high, high may be infinite
  T* dt;          ///< [q, H] written
  T* slope;       ///< [q, H] d dt / d raw, 0 where a limit binds; or null
};

/// Errors   none: noexcept, no allocation, no check. NaN stays NaN.
/// Numbers  softplus is log1p(e^x), x above 20, within 4 ulp over the whole range: never
///          log(e^x + 1), which is 0 below -16 in float32.
template <class T>
using StepSizeFn = void (*)(const StepSize<T>& args) noexcept;

}  // namespace foxhunt::kernels
