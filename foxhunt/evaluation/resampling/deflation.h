#pragma once
// A gain that was found by looking more than once is worth less: what the best of N looks shows
// where there is nothing, taken off.
//
// Of N estimates without any edge, each normal around 0 with standard error s, the largest is on
// average about s E(N) (Bailey & Lopez de Prado 2014, "The deflated Sharpe ratio"):
//
//   E(N) = (1 - g) Phi^-1(1 - 1/N) + g Phi^-1(1 - 1/(N e))      g = 0.5772… (Euler-Mascheroni)
//   E(1) = 0
//
//   deflated    = gain - s E(N)
//   probability = Phi(deflated / s)
//
// N = 1 leaves the gain as it is. The looks are taken as independent: where they resemble one
// another the correction is too strong, which is against the model, on purpose.

#include <cstdint>

#include "foxhunt/evaluation/metrics/value.h"

namespace foxhunt::evaluation {

/// The formula in one line, for reports.
inline constexpr const char* kDeflationFormula =
    "E(N) = (1-g) Phi^-1(1-1/N) + g Phi^-1(1-1/(N e)), g = 0.5772; deflated = gain - s E(N); "
    "probability = Phi(deflated/s)";

/// E(N) in standard errors; 0 for N <= 1. Against the exact mean of N normals it is 0.05 too low
/// at N = 2 and within 0.04 from N = 3 on.
double expected_best(std::int64_t trials);

struct Deflated {
  Value gain;            ///< above 0: better
  Value standard_error;  ///< of the gain, from the resamples
  Value chance;          ///< what the best of as many looks shows without an edge: s E(N)
  Value deflated;        ///< gain - chance
  Value probability;     ///< that the edge is real, as above; no statement about its size
};

/// Undefined where gain or error is; also for an error of 0.
Deflated deflate(const Value& gain, const Value& standard_error, std::int64_t trials);

}  // namespace foxhunt::evaluation
