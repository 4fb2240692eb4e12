#pragma once
// A mean over the last `span` values that has no memory of older ones, not even in its last bit.
//
// A running sum of doubles keeps the rounding errors of everything that ever passed through it: two
// streams that agree on the last span values would differ in the last bits. Here values are whole
// multiples of 2^-96 and their sum is an integer, so that adding and removing is exact, and the
// cost stays O(1) a value.

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace foxhunt::features {

class SlidingMean {
 public:
  /// Values over which to average, 1 <= span <= 2^20.
  explicit SlidingMean(std::int64_t span) : ring_(static_cast<std::size_t>(span)) {}

  /// `value` in [0, 2^11]; what lies below 2^-96 of it is cut off. The oldest value leaves when the
  /// window is full.
  void push(double value) noexcept {
    assert(value >= 0.0 && value <= 2048.0);
    push_fixed(static_cast<Fixed>(std::ldexp(value, kFractionBits)));
  }

  bool full() const noexcept { return count_ == ring_.size(); }
  /// Of the last span values. Call it when full().
  double mean() const noexcept {
    return std::ldexp(static_cast<double>(sum_), -kFractionBits) /
           static_cast<double>(ring_.size());
  }
  void clear() noexcept {
    sum_ = 0;
    count_ = 0;
    next_ = 0;
  }

  /// A value as it is kept, (high 2^64 + low) 2^-96, for states of streams.
  struct Exact {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    /// Something that push() could have kept.
    bool is_valid() const noexcept { return high < kMostHigh || (high == kMostHigh && low == 0); }
  };
  /// Values in the window.
  std::size_t size() const noexcept { return count_; }
  /// The value that came `ago` values before the last one; ago < size().
  Exact exact(std::size_t ago) const noexcept {
    assert(ago < count_);
    const Fixed fixed = ring_[(next_ + ring_.size() - 1 - ago) % ring_.size()];
    return {.high = static_cast<std::uint64_t>(fixed >> 64U),
            .low = static_cast<std::uint64_t>(fixed)};
  }
  /// push() of the value behind exact(): the mean does not differ in a bit.
  void push_exact(Exact value) noexcept {
    assert(value.is_valid());
    push_fixed((Fixed{value.high} << 64U) | value.low);
  }

 private:
  // 2^11 * 2^20 values * 2^96 is below 2^128: the sum cannot overflow.
  static constexpr int kFractionBits = 96;
  static constexpr std::uint64_t kMostHigh = std::uint64_t{1} << 43U;  ///< 2^11 * 2^96 / 2^64
  __extension__ using Fixed = unsigned __int128;

  void push_fixed(Fixed fixed) noexcept {
    if (full()) {
      sum_ -= ring_[next_];
    } else {
      ++count_;
    }
    sum_ += fixed;
    ring_[next_] = fixed;
    next_ = next_ + 1 == ring_.size() ? 0 : next_ + 1;
  }

  std::vector<Fixed> ring_;
  Fixed sum_ = 0;
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace foxhunt::features
