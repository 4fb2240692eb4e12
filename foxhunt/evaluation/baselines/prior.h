#pragma once
// What the training rows say about a row of which nothing is known: the least that a model has to
// beat.

#include <cstddef>
#include <span>
#include <vector>

namespace foxhunt::evaluation {

/// [K] (rows of the class + 1) / (N + K): Laplace's rule, so that a class that did not occur is
/// unlikely and not impossible. Errors  DataError naming the row when a label is outside 0 .. K-1;
/// ShapeError when K < 2.
std::vector<double> class_prior(std::span<const int> labels, std::size_t n_classes);

/// Errors  DataError without outcomes, or naming the row when one is not finite.
double mean_outcome(std::span<const double> outcomes);

/// [Q] the quantiles at `levels`, linear between neighbours. Errors  as mean_outcome; ShapeError
/// naming a level outside (0, 1).
std::vector<double> outcome_quantiles(std::span<const double> outcomes,
                                      std::span<const double> levels);

/// [n, row.size()] the same row n times.
std::vector<double> repeat(std::span<const double> row, std::size_t n);

/// [N, Q] each centre plus each offset: quantiles around a forecast, from the quantiles of its
/// training residuals.
std::vector<double> around(std::span<const double> centres, std::span<const double> offsets);

}  // namespace foxhunt::evaluation
