#pragma once
// An 8 x 8 block of 32-bit numbers turned inside registers (AVX2). For the vectors of 8 and of 16
// lanes.

#include <immintrin.h>
#include <stdint.h>

namespace foxhunt::kernels {
namespace {

/// row[c] lane r = row[r] lane c as it was.
inline __attribute__((always_inline)) void turn8_registers(__m256 (&row)[8]) {
  __m256 pair[8];  // columns two by two, within each half
  for (int r = 0; r < 8; r += 2) {
    pair[r] = _mm256_unpacklo_ps(row[r], row[r + 1]);
    pair[r + 1] = _mm256_unpackhi_ps(row[r], row[r + 1]);
  }
  __m256 four[8];  // columns of four rows
  for (int r = 0; r < 8; r += 4) {
    four[r] = _mm256_shuffle_ps(pair[r], pair[r + 2], 0x44);
    four[r + 1] = _mm256_shuffle_ps(pair[r], pair[r + 2], 0xEE);
    four[r + 2] = _mm256_shuffle_ps(pair[r + 1], pair[r + 3], 0x44);
    four[r + 3] = _mm256_shuffle_ps(pair[r + 1], pair[r + 3], 0xEE);
  }
  for (int c = 0; c < 4; ++c) {
    row[c] = _mm256_permute2f128_ps(four[c], four[c + 4], 0x20);
    row[c + 4] = _mm256_permute2f128_ps(four[c], four[c + 4], 0x31);
  }
}

/// out[c * out_row + r] = in[r * in_row + c] for r, c < 8.
inline void transpose8(const float* in, int64_t in_row, float* out, int64_t out_row) {
  __m256 row[8];
  for (int r = 0; r < 8; ++r) row[r] = _mm256_loadu_ps(in + r * in_row);
  turn8_registers(row);
  for (int c = 0; c < 8; ++c) _mm256_storeu_ps(out + c * out_row, row[c]);
}

}  // namespace
}  // namespace foxhunt::kernels
