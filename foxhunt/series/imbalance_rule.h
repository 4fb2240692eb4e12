#pragma once
// How far signed trades may drift before an imbalance bar ends.
//
// With b the signed trade (sign, or sign x contracts), T the length of a bar in trades:
//
//   threshold = max(E[T] |E[b]|, sqrt(E[T] E[b^2])),   set when a bar opens
//
// E[T] starts at `first` trades and follows the lengths of whole bars as a moving average of
// 2 / (bars + 1), held within a tenth and ten times `first`. E[b] and E[b^2] are averages over the
// first `first` trades, then moving ones of 2 / (bars E[T] + 1): over about as many bars. The
// second term is what a balanced flow reaches in E[T] trades by chance; without it the noise of
// E[b] sets the threshold, and bars shrink to nothing or never end. The first bar ends after
// `first` trades, as nothing can be expected before.
//
// Source  Lopez de Prado, Advances in Financial Machine Learning, 2.3.2; floor and limits are ours.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace foxhunt::series {

class ImbalanceRule {
 public:
  ImbalanceRule(std::int64_t first, std::int64_t bars)
      : first_(static_cast<double>(first)), bars_(static_cast<double>(bars)), expected_(first_) {}

  /// Call with every trade; then ends().
  void push(std::int64_t b) {
    seen_ += 1;
    const double alpha = seen_ <= first_ ? 1.0 / seen_ : 2.0 / (bars_ * expected_ + 1);
    const auto value = static_cast<double>(b);
    mean_ += alpha * (value - mean_);
    mean_square_ += alpha * (value * value - mean_square_);
  }

  /// Whether a bar of `ticks` trades with this sum is whole.
  bool ends(std::int64_t sum, std::uint64_t ticks) const {
    if (!learnt_) return static_cast<double>(ticks) >= first_;
    return std::abs(static_cast<double>(sum)) >= threshold_;
  }

  /// A whole bar of `ticks` trades has ended; the next threshold follows.
  void bar_ended(std::uint64_t ticks) {
    const double length = static_cast<double>(ticks);
    if (learnt_) expected_ += 2.0 / (bars_ + 1) * (length - expected_);
    expected_ = std::clamp(expected_, first_ / 10, first_ * 10);
    learnt_ = true;
    bar_opens();
  }

  /// A bar opens that does not follow a whole one.
  void bar_opens() {
    if (learnt_)
      threshold_ = std::max(expected_ * std::abs(mean_), std::sqrt(expected_ * mean_square_));
  }

  double threshold() const { return threshold_; }  ///< 0 before the first bar has ended

 private:
  double first_;
  double bars_;
  double expected_;
  double seen_ = 0;
  double mean_ = 0;
  double mean_square_ = 0;
  double threshold_ = 0;
  bool learnt_ = false;
};

}  // namespace foxhunt::series
