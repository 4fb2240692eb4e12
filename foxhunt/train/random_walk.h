#pragma once
// What a smoothed label gives away on a market that cannot be forecast.
//
// A label that moves from a mean of the past holds a part that is known when it is decided:
// close[t] less that mean. On a driftless random walk the rest is normal around 0, so the best
// forecast that knows the past alone has a closed form. Its score is the floor of every score on
// that label: whoever does not beat it has found the smoothing, not the market.

#include <cstdint>
#include <string>
#include <vector>

#include "foxhunt/bundle/label_config.h"
#include "foxhunt/train/labels.h"

namespace foxhunt::train {

/// Variance of what is unknown at t of a label's move, in one-bar variances: the mean of the last
/// `smooth` of `horizon` sums of independent steps, (h - k) + (k + 1)(2k + 1) / (6k).
double walk_variance(std::int64_t horizon, std::int64_t smooth);

/// Probabilities of down, flat and up for a known part `mean` and an unknown rest of `sd` > 0.
struct WalkForecast {
  double down = 0, flat = 0, up = 0;
};
WalkForecast walk_forecast(double mean, double sd, double dead_zone);
/// x with a standard normal below it with probability q in (0, 1); to 1e-12.
double normal_quantile(double q);

/// The scores of that forecast on `bars` bars of a Gaussian random walk of sixteen ticks a bar.
struct WalkFloor {
  std::int64_t rows = 0;
  double accuracy = 0;           ///< of the likeliest class
  double log_loss = 0;           ///< nats
  double majority_accuracy = 0;  ///< of always the most frequent class
  double prior_log_loss = 0;     ///< of the class shares of the same rows
  double r2 = 0;                 ///< of the known part as a forecast of the value, around 0
};
/// Errors  ConfigError for a label that is not smoothed, or out of range.
WalkFloor walk_floor(const bundle::LabelConfig& config, std::uint64_t seed,
                     std::int64_t bars = 100'000);

/// The floor as a line for a report.
std::string walk_floor_text(const bundle::LabelConfig& config, const WalkFloor& floor,
                            std::uint64_t seed);

}  // namespace foxhunt::train
