#pragma once
// A market made of random numbers, whose best possible forecast is known exactly.
//
// kRandomWalk   every bar moves down, stays or moves up by one tick, alike in both directions.
// Nothing can be forecast;
//               bursts of volume happen and mean nothing.
// kPlanted      the same, but a burst is a signal: a trigger bar of direction d = +-1 (many times
// the usual volume,
//               a move of trigger_ticks in direction d) is followed by drift_bars bars of drift in
//               direction d. During a drift no trigger happens. Each session begins without a
//               drift.
//
// The latent state after a bar is m in [-drift_bars, drift_bars], the bars of drift still to come
// with their direction:
//
//   m = 0    next bar: with trigger_probability a trigger of either direction alike, m' = d
//   drift_bars;
//            else one tick up or down with move_probability / 2 each, else unchanged, m' = 0
//   m != 0   next bar: one tick in direction sign(m) with drift_with, one against it with
//   drift_against, else unchanged,
//            m' = m - sign(m)
//
// With the defaults, a horizon of 6 bars and a dead zone of 1 tick the best forecast names 59 of
// 100 classes, the most frequent class 34.
//
// A trigger is plain to see in volume and move, so the past of the session tells m: the best
// forecast from the past is the best forecast from m, and outcome() computes the distribution
// behind it exactly.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/market/calendar.h"
#include "foxhunt/market/contract.h"
#include "foxhunt/market/record.h"

namespace foxhunt::market {

enum class SyntheticKind : std::uint8_t { kRandomWalk, kPlanted };

struct SyntheticConfig {
  SyntheticKind kind = SyntheticKind::kPlanted;
  std::int64_t bars = 10'000;
  std::int64_t first_price_ticks = 16'000;
  double move_probability = 0.5;
  double trigger_probability = 0.08;
  std::int64_t trigger_ticks = 2;
  std::int64_t drift_bars = 12;
  double drift_with = 0.7;
  double drift_against = 0.1;
  double volume = 300;
  double volume_noise = 0.25;
  double burst = 10;
};

struct BayesRate {
  double accuracy = 0;        ///< of naming the likeliest class
  double log_loss = 0;        ///< of stating the true probabilities, natural logarithm
  double prior_accuracy = 0;  ///< of naming the class that is likeliest over all the bars
};

/// What happens to prices, as a Markov chain over m. Both kinds; a random walk has m = 0 always.
class SyntheticDynamics {
 public:
  /// Errors  ConfigError with all values that are out of range.
  explicit SyntheticDynamics(const SyntheticConfig& config);

  /// P(down), P(flat), P(up) for the move of the close over the next `horizon` bars of the session
  /// when the state is `m`; flat where it is at most dead_zone_ticks. Exact: a sum over the chain,
  /// no draws. Cost    O(horizon^2 trigger_ticks drift_bars).
  std::array<double, 3> outcome(std::int64_t m, std::int64_t horizon,
                                std::int64_t dead_zone_ticks) const;

  /// What the best forecast reaches on bars with these states, in expectation. Errors  as
  /// outcome().
  BayesRate bayes_rate(std::span<const std::int64_t> states, std::int64_t horizon,
                       std::int64_t dead_zone_ticks) const;

  const SyntheticConfig& config() const { return config_; }

 private:
  SyntheticConfig config_;
};

struct SyntheticMarket {
  std::vector<Bar> bars;  ///< one minute each, without holes, in the sessions that were given
  std::vector<std::int64_t> state;  ///< [bars] m after each bar
};

/// Bars of instrument {1, 1} in whole ticks of `contract`: each minute of `sessions` but their
/// halts, in order, until there are config.bars. Errors  ConfigError: a value out of range, too few
/// session minutes, or a price that fell to zero.
SyntheticMarket make_synthetic(const SyntheticConfig& config, const Contract& contract,
                               std::span<const Session> sessions, Rng& rng);

}  // namespace foxhunt::market
