#pragma once
// How many neighbouring rows a bootstrap has to keep together.

#include <cstddef>
#include <span>

namespace foxhunt::evaluation {

/// The length that minimises the error of a circular block bootstrap of the mean of `series` (rows
/// in time order), estimated from its own autocorrelation; 1 for white noise, at least 1, at most 3
/// sqrt(N). Errors  DataError when a value is not finite. Cost    O(N sqrt(N)). Source  Politis &
/// White 2004, "Automatic block-length selection for the dependent bootstrap", with the correction
///         of Patton, Politis & White 2009.
std::size_t automatic_block_length(std::span<const double> series);

}  // namespace foxhunt::evaluation
