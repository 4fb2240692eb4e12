#include "foxhunt/latency/histogram.h"

#include <algorithm>
#include <cmath>

namespace foxhunt::latency {

Histogram::Histogram() : counts_(kBuckets, 0) {}

void Histogram::merge(const Histogram& other) noexcept {
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

void Histogram::clear() noexcept {
  std::fill(counts_.begin(), counts_.end(), 0);
  count_ = 0;
  min_ = ~std::uint64_t{0};
  max_ = 0;
}

std::uint64_t Histogram::top_of(std::size_t bucket) noexcept {
  constexpr std::size_t kExact = std::size_t{2} << kSplitBits;
  if (bucket < kExact) return bucket;
  // The first doubling beyond the exact values begins at bucket kExact with shift 1.
  const auto shift = static_cast<unsigned>((bucket >> kSplitBits) - 1);
  const std::uint64_t lead = bucket - (std::size_t{shift} << kSplitBits);
  return (lead << shift) + ((std::uint64_t{1} << shift) - 1);
}

std::uint64_t Histogram::quantile(double q) const noexcept {
  if (count_ == 0) return 0;
  // 1e-9: a product such as 0.99 * 100 may lie above the whole number it stands for by rounding.
  const double wanted = std::ceil(q * static_cast<double>(count_) - 1e-9);
  const std::int64_t rank = std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, count_);
  if (rank == 1) return min_;  // exact, as the largest is
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(top_of(i), min_, max_);
  }
  return max_;
}

}  // namespace foxhunt::latency
