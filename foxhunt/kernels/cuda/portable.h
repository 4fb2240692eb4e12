#pragma once
// What lets one header serve nvcc and a plain C++ compiler. The block algorithms of this folder are
// written once; nvcc compiles them for the GPU, the tests compile them for the host.

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define FX_HD __host__ __device__  ///< index arithmetic, used on both sides
#define FX_BLOCK __device__        ///< a block's algorithm: on the GPU, or emulated on the host
#define FX_UNROLL _Pragma("unroll")
#else
#define FX_HD
#define FX_BLOCK
#define FX_UNROLL
#endif

namespace foxhunt::kernels::cuda {

/// A plain array: T values[count]. (Count is an int like all indices of a block; said here once.)
template <class T, int kCount>
using Array = T[static_cast<std::size_t>(kCount)];
template <class T, int kRows, int kColumns>
using Table = T[static_cast<std::size_t>(kRows)][static_cast<std::size_t>(kColumns)];

/// bfloat16 as its bits, laid out like LibTorch's and CUDA's.
struct Bf16 {
  std::uint16_t bits;
};

FX_HD inline float widen(Bf16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16U;
  float wide;
  memcpy(&wide, &bits, sizeof wide);
  return wide;
}
FX_HD inline float widen(float value) { return value; }
FX_HD inline double widen(double value) { return value; }

/// Rounds to nearest, ties to even; a NaN stays one.
FX_HD inline void narrow(float value, Bf16& out) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const std::uint32_t rounded = bits + 0x7fffU + ((bits >> 16U) & 1U);
  out.bits = static_cast<std::uint16_t>((value != value ? bits | 0x400000U : rounded) >> 16U);
}
FX_HD inline void narrow(float value, float& out) { out = value; }
FX_HD inline void narrow(double value, double& out) { out = value; }

}  // namespace foxhunt::kernels::cuda
