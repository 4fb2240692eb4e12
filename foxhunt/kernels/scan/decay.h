#pragma once
// The operator of state space models: many steps of h <- decay h + increment are again one such
// step.
//
//     (a1, b1) * (a2, b2) = (a1 a2, a2 b1 + b2)          first 1, then 2
//
// So the inclusive scan of (a_t, b_t), begun with (1, h0), leaves h_t in `increment` and
// a_1 … a_t in `decay`.
//
// Source  Blelloch 1990, CMU-CS-90-190 (recurrences as scans); Martin & Cundy 2018,
//         arXiv:1709.04057.

#include <array>
#include <cmath>
#include <cstddef>

namespace foxhunt::kernels {

/// One decay over `Width` channels, as a head's decay rules its whole state. The increments come
/// first, so that a copy reads what vector stores just wrote in the same pieces: with the decay in
/// front a sequential scan of 16 channels took 2.8 times as long.
template <class Real, std::size_t Width = 1>
struct DecayStep {
  std::array<Real, Width> increment;
  Real decay;
};

/// Decays as products.
///
/// Numbers  decays in [0, 1] and finite increments give finite results where the sum of |b| is
///          finite, whatever the decays: exp(-4e4) is 0, and 0 h is 0.
///          Exact: a product of decays in [0, 1] is never above any of its factors (rounding is
///          monotone), in every algorithm; a decay of 1 is carried unchanged; identity() changes no
///          bit of a step whose decay is >= 0.
///          Rounded: |error of h_t| <= g sum_j |a_{j+1} … a_t b_j|, g = 2 t u / (1 - 2 t u), u half
///          an ulp of 1, in every algorithm, plus what underflows (t times the least number).
///          A product that became denormal may stay so (k 2^-149 times 0.95 is itself for k < 10):
///          harmless, but slow on some CPUs.
///          Not kept: a decay within u of 1 is 1 already in its factor. Where the model knows the
///          logarithm, LogDecayOperator keeps it.
/// Cost     2 Width + 1 flop a combine.
template <class Real, std::size_t Width = 1>
struct DecayOperator {
  using Value = DecayStep<Real, Width>;

  Value identity() const {
    Value one{.increment = {}, .decay = Real{1}};
    one.increment.fill(-Real{0});  // x + -0 is x for every x, -0 too
    return one;
  }
  Value combine(const Value& a, const Value& b) const {
    Value both;
    both.decay = a.decay * b.decay;
    for (std::size_t c = 0; c < Width; ++c) {
      both.increment[c] = b.decay * a.increment[c] + b.increment[c];
    }
    return both;
  }
};

/// As DecayStep, with the decay's logarithm: dt A in a Mamba layer, 0 or less.
template <class Real, std::size_t Width = 1>
struct LogDecayStep {
  std::array<Real, Width> increment;
  Real log_decay;
};

/// Decays as sums of logarithms.
///
/// Numbers  exp() is taken of what is 0 or less only, so no factor is above 1 and none overflows.
///          Exact: a sum of such logarithms is never above any of its terms.
///          Kept: a million decays of exp(-1e-9) make exp(-1e-3) in float32 (products: 1), and the
///          logarithm of a decay that underflows. But h itself gains only where combine() meets
///          long runs (Blelloch, HillisSteele, chunks' totals); step by step exp(-1e-9) is 1.
///          Rounded: what is left of b_j after t steps, exp(L) b_j, carries a relative error of up
///          to t u |L| + 4 t u: the sum, then an exp (2 u), a product and an addition a combine.
/// Cost     an exp a combine more than DecayOperator.
template <class Real, std::size_t Width = 1>
struct LogDecayOperator {
  using Value = LogDecayStep<Real, Width>;

  Value identity() const {
    Value one{.increment = {}, .log_decay = Real{0}};
    one.increment.fill(-Real{0});
    return one;
  }
  Value combine(const Value& a, const Value& b) const {
    const Real decay = std::exp(b.log_decay);
    Value both;
    both.log_decay = a.log_decay + b.log_decay;
    for (std::size_t c = 0; c < Width; ++c) {
      both.increment[c] = decay * a.increment[c] + b.increment[c];
    }
    return both;
  }
};

}  // namespace foxhunt::kernels
