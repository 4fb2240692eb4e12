#pragma once
// Intervals of a median that assume nothing about how times are distributed: between two of the
// observations themselves. Torch-free.

#include <cstdint>
#include <vector>

namespace foxhunt::train {

/// A figure and where it lies. Without observations all are NaN.
struct Figure {
  double value = 0;
  double low = 0, high = 0;
  double level = 0;  ///< probability that the interval keeps its promise; 0: none can be made

  double width_share() const;  ///< (high - low) / value
};

/// Of n independent observations of a continuous distribution: P(x_(r) <= median <= x_(n+1-r)),
/// r from 1. 1 - 2 P(Bin(n, 1/2) < r).
double median_coverage(std::int64_t n, std::int64_t r);

/// P(x_(r) <= median of m further observations <= x_(n+1-r)), from below: exact where m is odd;
/// where it is even, for both of the two middle ones. Follows from every order of n + m
/// observations being equally likely.
double repeat_coverage(std::int64_t n, std::int64_t m, std::int64_t r);

/// The mean of the two middle ones where their number is even.
double median_of(std::vector<double> values);
/// Order statistic of the sorted values nearest to share `p`: index ceil(p n) - 1, at least 0.
double quantile_of(const std::vector<double>& sorted, double p);

/// Median with the narrowest interval [x_(r), x_(n+1-r)] whose coverage is `level` or more; the
/// whole range, with the level that it has, where none is.
Figure median_figure(std::vector<double> values, double level);
/// The same with the interval in which the median of a second run with as many observations falls
/// at `level`: wider than the one of the true median.
Figure repeatable_figure(std::vector<double> values, double level);

}  // namespace foxhunt::train
