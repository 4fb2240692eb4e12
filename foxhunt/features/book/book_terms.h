#pragma once
// What one book event adds to the windows: whole numbers only, so that a sum over a window has no
// memory of what left it, not even in its last bit. Inside of the room only.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "foxhunt/book/view.h"
#include "foxhunt/features/book/book_rows.h"

namespace foxhunt::features {

/// One event's terms: for each level count order flow and depth, then the rest in this order.
struct TermLayout {
  std::size_t levels;  ///< number of level counts

  std::size_t flow(std::size_t i) const noexcept { return i; }
  std::size_t depth(std::size_t i) const noexcept { return levels + i; }
  std::size_t lost_bid() const noexcept { return 2 * levels; }
  std::size_t lost_ask() const noexcept { return 2 * levels + 1; }
  std::size_t signed_volume() const noexcept { return 2 * levels + 2; }
  std::size_t volume() const noexcept { return 2 * levels + 3; }
  std::size_t adds() const noexcept { return 2 * levels + 4; }
  std::size_t cancels() const noexcept { return 2 * levels + 5; }
  std::size_t squared_move() const noexcept { return 2 * levels + 6; }
  std::size_t elapsed() const noexcept { return 2 * levels + 7; }
  std::size_t size() const noexcept { return 2 * levels + 8; }
};

/// No term is larger in size, so that 2^16 of them (the longest span) fit into 63 bits.
inline constexpr std::int64_t kMostTerm = std::int64_t{1} << 47U;

/// Whether the sizes of so many levels of a view are such that no term exceeds kMostTerm.
bool is_in_range(const book::DepthView& view, std::size_t levels) noexcept;

/// The terms of the event that led from `before` to `after`; false where one would be too large or
/// a price is off the tick grid. `elapsed` >= 0, in nanoseconds.
bool make_terms(const book::DepthView& before, const book::DepthView& after,
                const EventTally& tally, std::int64_t elapsed, std::int64_t tick,
                std::span<const std::int64_t> level_counts, std::span<std::int64_t> terms) noexcept;

/// Running sums of terms over several windows. Cost  O(windows * terms) a push; no allocation.
class TermWindows {
 public:
  TermWindows(std::vector<std::int64_t> spans, std::size_t terms)
      : spans_(std::move(spans)),
        terms_(terms),
        room_(spans_.empty() ? 1 : static_cast<std::size_t>(spans_.back())),
        ring_(room_ * terms),
        sums_(spans_.size() * terms) {}

  void push(std::span<const std::int64_t> terms) noexcept {
    std::int64_t* fresh = &ring_[(pushed_ % room_) * terms_];
    for (std::size_t w = 0; w < spans_.size(); ++w) {
      std::int64_t* sums = &sums_[w * terms_];
      const auto span = static_cast<std::size_t>(spans_[w]);
      if (pushed_ >= span) {
        const std::int64_t* old = &ring_[((pushed_ - span) % room_) * terms_];
        for (std::size_t i = 0; i < terms_; ++i) sums[i] -= old[i];
      }
      for (std::size_t i = 0; i < terms_; ++i) sums[i] += terms[i];
    }
    for (std::size_t i = 0; i < terms_; ++i) fresh[i] = terms[i];
    ++pushed_;
  }
  /// Over the last spans[window] pushes, or all where there were fewer.
  std::int64_t sum(std::size_t window, std::size_t term) const noexcept {
    return sums_[window * terms_ + term];
  }
  std::int64_t last(std::size_t term) const noexcept {
    return ring_[((pushed_ - 1) % room_) * terms_ + term];
  }
  /// Terms of the push `ago` pushes before the last; ago < kept().
  std::span<const std::int64_t> terms(std::size_t ago) const noexcept {
    return {&ring_[((pushed_ - 1 - ago) % room_) * terms_], terms_};
  }
  std::size_t kept() const noexcept { return pushed_ < room_ ? pushed_ : room_; }
  void clear() noexcept {
    pushed_ = 0;
    for (std::int64_t& sum : sums_) sum = 0;
  }

 private:
  std::vector<std::int64_t> spans_;
  std::size_t terms_;
  std::size_t room_;
  std::vector<std::int64_t> ring_;
  std::vector<std::int64_t> sums_;
  std::size_t pushed_ = 0;
};

}  // namespace foxhunt::features
