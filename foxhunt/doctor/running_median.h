#pragma once
// The median of the last N values, exact: a ring in order of time beside the same values in order
// of size. push() costs one binary search and a move of at most N floats.

#include <algorithm>
#include <array>
#include <cstddef>

namespace foxhunt::doctor {

template <std::size_t N>
class RunningMedian {
 public:
  void push(float value) {
    auto end = sorted_.begin() + static_cast<std::ptrdiff_t>(size_);
    if (size_ == N) {
      auto gone = std::lower_bound(sorted_.begin(), end, ring_[next_]);
      std::move(gone + 1, end, gone);
      --end;
    } else {
      ++size_;
    }
    const auto place = std::upper_bound(sorted_.begin(), end, value);
    std::move_backward(place, end, end + 1);
    *place = value;
    ring_[next_] = value;
    next_ = (next_ + 1) % N;
  }
  std::size_t size() const { return size_; }
  /// The upper one of the two in the middle of an even number; 0 without values.
  float median() const { return size_ == 0 ? 0.0F : sorted_[size_ / 2]; }

 private:
  std::array<float, N> ring_{};
  std::array<float, N> sorted_{};
  std::size_t size_ = 0;
  std::size_t next_ = 0;
};

}  // namespace foxhunt::doctor
