#pragma once
// Intervals of a median: between two of the observations themselves, which assumes nothing about
// how times are distributed; and from groups of neighbours, which bears with observations that
// depend on those before them. Torch-free.

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
/// at `level`, where no observation depends on another: wider than the one of the true median.
Figure independent_figure(std::vector<double> values, double level);

/// P(|Student's t with 3 degrees of freedom| <= x).
double student3_coverage(double x);

/// The interval of a second run from four groups of values one behind another: mean of their
/// medians plus and minus t(3) s sqrt(2 / 4). It holds as far as groups are independent, however
/// much their members are not. On logarithms: all values above 0, eight at least.
Figure grouped_figure(const std::vector<double>& in_order, double level);

/// Where a second run falls: independent_figure widened to hold grouped_figure, too. `in_order`:
/// as they were taken. A drift over a run sets groups apart and so widens the interval, where
/// order statistics alone would promise too much. Under eight values, or where one is not above 0:
/// independent_figure.
Figure repeatable_figure(const std::vector<double>& in_order, double level);

}  // namespace foxhunt::train
