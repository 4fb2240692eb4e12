#pragma once
// Numbers laid out row by row, seen but not owned.

#include <cstddef>
#include <span>

namespace foxhunt::evaluation {

/// [rows, cols], row-major, contiguous. Lifetime  that of the memory behind `values`.
struct RowMatrix {
  std::span<const double> values;
  std::size_t cols = 1;

  /// 0 when `cols` is 0. Values that make no whole row are no row; the check_ functions refuse
  /// them.
  std::size_t rows() const { return cols == 0 ? 0 : values.size() / cols; }
  std::span<const double> row(std::size_t i) const { return values.subspan(i * cols, cols); }
  double at(std::size_t i, std::size_t j) const { return values[i * cols + j]; }
};

}  // namespace foxhunt::evaluation
