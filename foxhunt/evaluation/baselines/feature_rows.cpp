#include "foxhunt/evaluation/baselines/feature_rows.h"

#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/error.h"

namespace foxhunt::evaluation {

void check_features(FeatureRows x, std::size_t rows, const char* what) {
  if (x.cols == 0 || rows == 0 || x.values.size() != rows * x.cols) {
    throw ShapeError(
        fmt::format("[baselines] {} {} features in rows of {} for {} outcomes, but it must be [N, "
                    "F] for N, F >= 1",
                    x.values.size(), what, x.cols, rows));
  }
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    if (!std::isfinite(x.values[i])) {
      throw DataError(fmt::format("[baselines] {} row {}, column {}: feature {} is not finite",
                                  what, i / x.cols, i % x.cols, x.values[i]));
    }
  }
}

}  // namespace foxhunt::evaluation
