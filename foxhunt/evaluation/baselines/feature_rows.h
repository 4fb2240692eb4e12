#pragma once
// Normalised feature rows as the model gets them, seen but not owned.

#include <cstddef>
#include <span>

namespace foxhunt::evaluation {

/// [rows, cols], row-major, contiguous. Lifetime  that of the memory behind `values`.
struct FeatureRows {
  std::span<const float> values;
  std::size_t cols = 1;

  std::size_t rows() const { return cols == 0 ? 0 : values.size() / cols; }
};

/// Errors  ShapeError unless there are exactly `rows` >= 1 rows of at least one column; DataError
/// naming row and column
///         when a value is not finite. `what` names the rows in the message ("training").
void check_features(FeatureRows x, std::size_t rows, const char* what);

}  // namespace foxhunt::evaluation
