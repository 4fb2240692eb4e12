#pragma once
// One number to bfloat16, as the instruction does it.

#include <stdint.h>

namespace foxhunt::kernels {
namespace {

/// The nearest bf16, ties to even; NaN stays one, denormal numbers become zero: as vcvtneps2bf16.
inline uint32_t to_bf16(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  const uint32_t magnitude = bits & 0x7fffffffU;
  const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
  const uint32_t finite = magnitude < 0x00800000U ? (bits & 0x80000000U) >> 16U : rounded;
  return magnitude > 0x7f800000U ? (bits >> 16U) | 0x40U : finite;
}

}  // namespace
}  // namespace foxhunt::kernels
