#pragma once
#include <stdint.h>

namespace foxhunt::kernels {
namespace {

/// out[c * out_row + r] = in[r * in_row + c] for r < rows, c < columns.
template <class V>
void transpose(int64_t rows, int64_t columns, const typename V::Elem* in, int64_t in_row,
               typename V::Elem* out, int64_t out_row) noexcept {
  const int64_t whole_rows = V::kTurns8 ? rows / 8 * 8 : 0;
  const int64_t whole_columns = V::kTurns8 ? columns / 8 * 8 : 0;
  if constexpr (V::kTurns8) {
    for (int64_t r = 0; r < whole_rows; r += 8) {
      for (int64_t c = 0; c < whole_columns; c += 8) {
        V::turn8(in + r * in_row + c, in_row, out + c * out_row + r, out_row);
      }
    }
  }
  for (int64_t c = 0; c < columns; ++c) {  // what is left over at the right and below
    const int64_t first = c < whole_columns ? whole_rows : 0;
    for (int64_t r = first; r < rows; ++r) out[c * out_row + r] = in[r * in_row + c];
  }
}

}  // namespace
}  // namespace foxhunt::kernels
