#pragma once
// Metrics that look at order only: rank IC, Kendall's tau, area under the ROC curve, average
// precision.
//
// The sort is done once (Ordering); a metric under row weights then costs one walk, so that a
// thousand bootstrap resamples cost a thousand walks and no sort. Equal values share their average
// rank everywhere.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "foxhunt/evaluation/metrics/value.h"
#include "foxhunt/evaluation/metrics/weights.h"

namespace foxhunt::evaluation {

/// The rows in ascending order of a value.
class Ordering {
 public:
  /// Errors  DataError naming the row when a value is not finite.
  explicit Ordering(std::span<const double> values);

  std::size_t size() const { return order_.size(); }
  const std::vector<std::uint32_t>& order() const { return order_; }
  /// Ends (exclusive, as positions in order()) of the groups of equal values.
  const std::vector<std::uint32_t>& group_ends() const { return group_ends_; }

  /// `ranks` [N]: each row's average rank, counted from 1, when row i occurs w[i] times.
  void average_ranks(Weights w, std::span<double> ranks) const;

 private:
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> group_ends_;
};

/// Spearman's rank correlation, with average ranks for ties: the rank IC when x is a forecast and y
/// what came true. Undefined when a side does not vary. Cost  O(N).
Value spearman(const Ordering& x, const Ordering& y, Weights w = {});

/// Kendall's tau-b. Undefined when a side does not vary. Cost  O(N log N) (Knight 1966).
/// Errors  ShapeError for unequal lengths, DataError for values that are not finite.
Value kendall_tau_b(std::span<const double> x, std::span<const double> y);

/// Probability that a positive row scores above a negative one, ties one half. `positive` [N] is 0
/// or 1. Undefined unless both kinds occur. Cost  O(N).
Value auc(const Ordering& score, std::span<const std::uint8_t> positive, Weights w = {});

/// Sum over the distinct thresholds, from the highest score down, of (recall gained) x precision;
/// no interpolation. Undefined without a positive row. Cost  O(N).
Value average_precision(const Ordering& score, std::span<const std::uint8_t> positive,
                        Weights w = {});

}  // namespace foxhunt::evaluation
