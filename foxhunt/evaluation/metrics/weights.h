#pragma once
// How often each row counts.
//
// A bootstrap resample is a set of weights: the metric under weights is the metric of the rows
// repeated that often (weights_test.cpp proves it for each metric). So every metric is written
// once, for the point and for its interval.

#include <cstddef>
#include <span>

#include "foxhunt/evaluation/metrics/value.h"

namespace foxhunt::evaluation {

/// [N], each >= 0; empty: every row once.
using Weights = std::span<const double>;

inline double weight(Weights w, std::size_t i) { return w.empty() ? 1.0 : w[i]; }

/// Weighted mean; undefined without rows.
inline Value mean(std::span<const double> values, Weights w = {}) {
  double sum = 0;
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += weight(w, i) * values[i];
    total += weight(w, i);
  }
  return Value::ratio(sum, total, "no rows");
}

}  // namespace foxhunt::evaluation
