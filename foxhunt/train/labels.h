#pragma once
// Labels: what happened after a bar. They look ahead, so they live here, where nothing that is
// served can reach them.
//
// The decision is taken when bar t is known, at available_at(t), its end. With h the horizon:
//
//   r        = ln(close[t+h] / close[t])
//   z        = r / (s sqrt(h)),  s the realised volatility of the volatility_span one-bar returns
//   value    = z with scale_return, else r
//   class    = flat where |move| <= dead_zone, else down or up by its sign;
//              move is z with the unit `volatility`, and (close[t+h] - close[t]) / tick with
//              `ticks`
//   interval = [available_at(t), available_at(t+h)], both ends included
//
// Smoothed, the move goes from the mean of the last smooth_past closes up to t to the mean of the
// last smooth_future closes up to t+h. A mean of the past makes a part of the move known at t; of a
// random walk it is all that can be forecast (random_walk.h).
//
// With kind `barrier` the class is up or down by the barrier that a close meets first, +barrier_up
// s sqrt(h) and -barrier_down s sqrt(h) in log returns from close[t], and flat where neither is met
// by t+h; value and interval are those of the first meeting, or of t+h. Closes alone count: whether
// a bar that spans both met this or that one first, it does not say.
//
// Bars are those of one sequence: a label that would reach over the sequence's end (session, halt,
// contract, long hole, end of the data) is invalid and counted.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/base/price.h"
#include "foxhunt/base/time.h"
#include "foxhunt/bundle/label_config.h"

namespace foxhunt::train {

enum Class : std::int8_t { kNoClass = -1, kDown = 0, kFlat = 1, kUp = 2 };
inline constexpr std::int64_t kClasses = 3;

/// Of T bars. An invalid label has class kNoClass, value 0 and end kNullTime.
struct Labels {
  std::vector<std::uint8_t> valid;   ///< [T] 1 or 0
  std::vector<std::int8_t> classes;  ///< [T] Class
  std::vector<float> value;          ///< [T]
  std::vector<UnixNanos> end;        ///< [T] end of the interval
  /// [T] class of the move over the last h bars, with the dead zone at t: what persistence would
  /// forecast. kNoClass where the sequence has too little past. Of barriers the class of the label
  /// at t-h, which is known at t.
  std::vector<std::int8_t> persistence;
  /// [T] of smoothed labels, else empty: the known part of the move (class) or value at t, and the
  /// standard deviation of the rest if prices are a driftless random walk of volatility s.
  std::vector<float> walk_mean{};
  std::vector<float> walk_sd{};
};

/// The bars of one sequence, oldest first; prices positive.
struct LabelBars {
  std::span<const Price> close;             ///< [T]
  std::span<const UnixNanos> available_at;  ///< [T]
  Price tick;
};

/// What is wrong between the keys of a configuration. Empty: all well.
std::vector<std::string> label_errors(const bundle::LabelConfig& config);

/// Errors  ConfigError for a value out of range or label_errors(), ShapeError when the two spans
/// differ in length.
Labels make_labels(bundle::LabelConfig config, const LabelBars& bars);

}  // namespace foxhunt::train
