#pragma once
// From an order's id to its place in the pool: a flat hash table with open addressing.
//
// Ids of one venue are nearly consecutive numbers, which multiplication by the golden ratio spreads
// evenly. Removal shifts the cluster back, so that there are no tombstones and no rehash in steady
// state; a slot is 16 bytes, four a cache line.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace foxhunt::book {

class OrderIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;

  /// Room for `orders` at a load of at most one half.
  explicit OrderIndex(std::size_t orders) { rebuild(orders); }

  /// kNone where there is no such id. Cost  O(1).
  std::uint32_t find(std::uint64_t id) const noexcept { return slots_[locate(id)].place; }

  /// `id` is not in the table. Cost  O(1); doubles the table where it is half full.
  void insert(std::uint64_t id, std::uint32_t place) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    slots_[locate(id)] = {id, place};
    ++size_;
  }

  /// `id` is in the table. Cost  O(1).
  void erase(std::uint64_t id) noexcept {
    std::size_t hole = locate(id);
    for (std::size_t at = next(hole); slots_[at].place != kNone; at = next(at)) {
      // Moves into the hole what would not be found behind it.
      const std::size_t home = home_of(slots_[at].id);
      if (((at - home) & mask_) >= ((at - hole) & mask_)) {
        slots_[hole] = slots_[at];
        hole = at;
      }
    }
    slots_[hole].place = kNone;
    --size_;
  }

  /// Empty, the memory kept. Cost  O(room).
  void clear() noexcept {
    if (size_ == 0) return;
    for (Slot& slot : slots_) slot.place = kNone;
    size_ = 0;
  }
  std::size_t size() const noexcept { return size_; }

 private:
  struct Slot {
    std::uint64_t id = 0;
    std::uint32_t place = kNone;
  };

  std::size_t home_of(std::uint64_t id) const noexcept {
    return static_cast<std::size_t>((id * 0x9E37'79B9'7F4A'7C15ULL) >> shift_);
  }
  std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask_; }
  /// Where `id` is, or the free slot where it would be.
  std::size_t locate(std::uint64_t id) const noexcept {
    std::size_t at = home_of(id);
    while (slots_[at].place != kNone && slots_[at].id != id) at = next(at);
    return at;
  }
  void rebuild(std::size_t orders) {
    const std::size_t room = std::bit_ceil(2 * orders | std::size_t{16});
    slots_.assign(room, Slot{});
    mask_ = room - 1;
    shift_ = 64 - std::countr_zero(room);
  }
  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, {});
    rebuild(old.size());  // twice the slots
    for (const Slot& slot : old) {
      if (slot.place != kNone) slots_[locate(slot.id)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  int shift_ = 0;
  std::size_t size_ = 0;
};

}  // namespace foxhunt::book
