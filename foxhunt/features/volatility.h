#pragma once
// Realised volatility of one-bar log returns, with a floor of one tick.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "foxhunt/base/price.h"
#include "foxhunt/features/sliding_mean.h"

namespace foxhunt::features {

/// ln(to / from) of two positive prices. The difference is taken in integers, so that a small move
/// keeps all its digits and equal prices give 0.
inline double log_return(Price from, Price to) {
  const auto base = static_cast<double>(from.nano);
  const double relative = static_cast<double>(to.nano - from.nano) / base;
  // Far down 1 + relative has no digits left.
  return relative > -0.5 ? std::log1p(relative) : std::log(static_cast<double>(to.nano) / base);
}

/// Root of the mean squared one-bar log return over the last `span` returns (no mean is taken off:
/// over minutes it is noise). Never below what one move of one tick inside the window would give,
/// tick / close / sqrt(span): a market that stands still has a volatility, and what is divided by
/// it stays finite.
class RealisedVolatility {
 public:
  RealisedVolatility(std::int64_t span, Price tick)
      : squares_(span),
        tick_(static_cast<double>(tick.nano)),
        root_span_(std::sqrt(static_cast<double>(span))) {}

  void push(double one_bar_log_return) noexcept {
    squares_.push(one_bar_log_return * one_bar_log_return);
  }
  bool ready() const noexcept { return squares_.full(); }
  /// Per bar, not annualised; > 0. `close` is the current, positive price.
  double value(Price close) const noexcept {
    const double floor = tick_ / static_cast<double>(close.nano) / root_span_;
    return std::max(std::sqrt(squares_.mean()), floor);
  }
  void clear() noexcept { squares_.clear(); }

  /// What is remembered, and push() of a square out of it.
  const SlidingMean& squares() const noexcept { return squares_; }
  void push_square(SlidingMean::Exact square) noexcept { squares_.push_exact(square); }

 private:
  SlidingMean squares_;
  double tick_;
  double root_span_;
};

}  // namespace foxhunt::features
