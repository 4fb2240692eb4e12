#pragma once
// What the forms of narrow weights have in common, and the forms that any vector type can take.

#include "foxhunt/kernels/isa/bf16.inl.h"
#include "foxhunt/kernels/isa/product.inl.h"
#include "foxhunt/kernels/isa/vec_scalar.h"

namespace foxhunt::kernels {
namespace {

inline float bf16_value(uint16_t v) {
  const uint32_t bits = static_cast<uint32_t>(v) << 16U;
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

/// Inputs rounded to bfloat16 and held as floats, for instruction sets that multiply floats.
inline const void* rounded_inputs(const float* x, int64_t in, void* scratch) {
  auto* to = static_cast<float*>(scratch);
  for (int64_t k = 0; k < in; ++k) to[k] = bf16_value(static_cast<uint16_t>(to_bf16(x[k])));
  if (in % 2 != 0) to[in] = 0.0F;
  return to;
}

/// Inputs as whole numbers in [-127, 127], kShift added, in elements of T; what one unit is worth.
template <class T, int kShift>
const void* whole_inputs(const float* x, int64_t in, int64_t group, void* scratch, float* worth) {
  float largest = 0.0F;
  for (int64_t k = 0; k < in; ++k) {
    const float magnitude = __builtin_fabsf(x[k]);
    largest = magnitude > largest ? magnitude : largest;
  }
  *worth = largest / 127.0F;
  const float units = largest > 0.0F ? 127.0F / largest : 0.0F;
  auto* to = static_cast<T*>(scratch);
  // 1.5 2^23: adding it leaves the nearest whole number, ties to even, in the last bits.
  constexpr float kRound = 12582912.0F;
  for (int64_t k = 0; k < in; ++k) {
    const float whole = (x[k] * units + kRound) - kRound;
    to[k] = static_cast<T>(static_cast<int32_t>(whole) + kShift);
  }
  for (int64_t k = in; k % group != 0; ++k) to[k] = T{kShift};
  return to;
}

inline constexpr float kHalfStep = 5.9604644775390625e-8F;  // 2^-24
inline float half_value(uint16_t v) {
  const uint32_t exponent = (v >> 10U) & 31U;
  const uint32_t fraction = v & 0x3ffU;
  float value;
  if (exponent == 0) {
    value = static_cast<float>(fraction) * kHalfStep;
  } else {
    const uint32_t bits = ((exponent + 112U) << 23U) | (fraction << 13U);
    __builtin_memcpy(&value, &bits, 4);
  }
  return (v & 0x8000U) != 0 ? -value : value;
}

}  // namespace
}  // namespace foxhunt::kernels
