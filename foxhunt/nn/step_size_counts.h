#pragma once
// The distribution of a head's step sizes, counted on the way: fixed memory, any number of rows.
// Torch-free.

#include <cstdint>
#include <vector>

#include "foxhunt/nn/state_usage.h"

namespace foxhunt::nn {

class StepSizeCounts {
 public:
  /// Limits of the step size; a value at or beyond one counts as being at it.
  StepSizeCounts(double lo, double hi);

  /// dt >= 0.
  void add(double dt);
  std::int64_t count() const { return count_; }
  double mean() const;  ///< 0 without values
  /// All zeros without values.
  StepSizes result() const;

 private:
  double percentile(double q) const;
  double lo_;
  double hi_;
  std::vector<std::int64_t> bins_;  ///< 1 % wide, from 1e-12 to 1e6
  std::int64_t count_ = 0;
  std::int64_t at_limits_ = 0;
  double min_ = 0;
  double max_ = 0;
  double sum_ = 0;
};

}  // namespace foxhunt::nn
