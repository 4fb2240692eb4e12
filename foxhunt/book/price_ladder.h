#pragma once
// The prices of one side in order, the best one at the end of a flat array.
//
// What happens, happens near the best price: a search walks a few entries from the end and only
// then halves, and an insertion moves the few entries behind it. A far level costs O(log n) to find
// and a memmove of at most 16 bytes a level to insert.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "foxhunt/base/price.h"

namespace foxhunt::book {

/// T is what a price holds: small and trivially copyable.
template <class T>
class PriceLadder {
 public:
  struct Entry {
    std::int64_t key;  ///< grows towards the best price
    T value;
  };

  PriceLadder(bool is_bid, std::size_t room) : flip_(is_bid ? 0 : -1) { entries_.reserve(room); }

  /// The entry of `price` or the place where it belongs. Cost  O(1) near the best, O(log n) far.
  std::size_t locate(Price price) const noexcept {
    const std::int64_t key = price.nano ^ flip_;
    std::size_t at = entries_.size();
    for (int steps = 0; steps < kWalk; ++steps) {
      if (at == 0 || entries_[at - 1].key < key) return at;
      --at;
      if (entries_[at].key == key) return at;
    }
    const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(at);
    const auto found =
        std::lower_bound(entries_.begin(), end, key,
                         [](const Entry& entry, std::int64_t k) { return entry.key < k; });
    return static_cast<std::size_t>(found - entries_.begin());
  }
  bool holds(std::size_t at, Price price) const noexcept {
    return at < entries_.size() && entries_[at].key == (price.nano ^ flip_);
  }
  /// `at` is what locate() gave for `price`.
  void insert(std::size_t at, Price price, T value) {
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(at),
                    Entry{price.nano ^ flip_, value});
  }
  void erase(std::size_t at) noexcept {
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void clear() noexcept { entries_.clear(); }

  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }
  T& value_at(std::size_t at) noexcept { return entries_[at].value; }
  /// The `rank`-th best, from 0; rank < size().
  const T& value(std::size_t rank) const noexcept {
    return entries_[entries_.size() - 1 - rank].value;
  }
  Price price(std::size_t rank) const noexcept {
    return Price{entries_[entries_.size() - 1 - rank].key ^ flip_};
  }

 private:
  static constexpr int kWalk = 8;

  std::int64_t flip_;  ///< all bits of an ask's price are turned over: that reverses the order
  std::vector<Entry> entries_;
};

}  // namespace foxhunt::book
