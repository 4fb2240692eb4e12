#pragma once
// Counts of ticks in buckets that widen with the value: fixed memory, nothing allocated when
// recording, every value a 64-bit counter can hold.
//
// Values below 256 have a bucket each. Every further doubling is split into 128 buckets, so a
// bucket is at most 1/128 of its values wide. A percentile answers with the largest value of its
// bucket, cut to the largest recorded: never too small, and too large by less than 1/128.

#include <cstdint>
#include <vector>

namespace foxhunt::latency {

class Histogram {
 public:
  static constexpr double kRelativeError = 1.0 / 128.0;

  Histogram();  ///< 58 KB, touched

  void record(std::uint64_t value) noexcept {
    ++counts_[bucket_of(value)];
    ++count_;
    if (value < min_) min_ = value;
    if (value > max_) max_ = value;
  }
  void merge(const Histogram& other) noexcept;
  void clear() noexcept;

  std::int64_t count() const noexcept { return count_; }
  std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }  ///< exact
  std::uint64_t max() const noexcept { return max_; }                    ///< exact

  /// The value at rank ceil(q n), at least 1, of the n recorded in ascending order: of 100 values
  /// the 99th is quantile 0.99. q in [0, 1]; 0 where nothing is recorded.
  std::uint64_t quantile(double q) const noexcept;

  static constexpr int kSplitBits = 7;
  static constexpr std::size_t kBuckets = std::size_t{65 - kSplitBits} << kSplitBits;
  /// Position of the highest bit chooses the doubling, the next 7 bits the bucket.
  static std::size_t bucket_of(std::uint64_t value) noexcept {
    const int shift = shift_of(value);
    return (static_cast<std::size_t>(shift) << kSplitBits) +
           static_cast<std::size_t>(value >> static_cast<unsigned>(shift));
  }
  /// Largest value that bucket_of() sends to `bucket`.
  static std::uint64_t top_of(std::size_t bucket) noexcept;

 private:
  static int shift_of(std::uint64_t value) noexcept {
    return value >> (kSplitBits + 1) == 0 ? 0 : 63 - kSplitBits - __builtin_clzll(value);
  }

  std::vector<std::int64_t> counts_;
  std::int64_t count_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  std::uint64_t max_ = 0;
};

}  // namespace foxhunt::latency
