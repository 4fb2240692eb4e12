#pragma once
// A book of prices and sizes, fed by updates that say what a price holds from now on: the depth
// feeds of crypto venues.
//
// Updates are numbered. Each names the last one before it; where that is not the one the book has
// seen, something was lost: the gap is counted and the book is not ready until the next snapshot.

#include <cstddef>
#include <cstdint>
#include <span>

#include "foxhunt/book/price_ladder.h"
#include "foxhunt/book/view.h"
#include "foxhunt/market/record.h"

namespace foxhunt::book {

/// From now on `price` holds `size`; 0: nothing.
struct LevelUpdate {
  market::Side side = market::Side::kNone;
  Price price{};
  std::int64_t size = 0;
};

struct LevelCounters {
  std::int64_t snapshots = 0;
  std::int64_t diffs = 0;  ///< = applied + stale + early + gaps
  std::int64_t applied = 0;
  std::int64_t stale = 0;      ///< older than the snapshot: ignored
  std::int64_t early = 0;      ///< before the first snapshot or behind a gap: ignored
  std::int64_t gaps = 0;       ///< diffs that do not follow the one before: ignored, book lost
  std::int64_t updates = 0;    ///< of the applied diffs
  std::int64_t bad_value = 0;  ///< no side, no price, negative size: ignored
  std::int64_t crossed = 0;    ///< diffs after which best bid > best ask
  std::int64_t locked = 0;
};

class LevelBook {
 public:
  explicit LevelBook(market::InstrumentKey instrument, std::size_t prices = 1U << 14U)
      : instrument_(instrument), bids_(true, prices), asks_(false, prices) {}

  /// Replaces all; `last_id` numbers the last update in it.
  void snapshot(std::span<const LevelUpdate> levels, std::uint64_t last_id, UnixNanos ts_event,
                UnixNanos ts_recv);

  /// The updates first_id … last_id, which follow those up to previous_id. The first diff behind a
  /// snapshot must reach over its last_id (first_id <= last_id of the snapshot + 1 <= last_id, or
  /// previous_id equal to it); the next ones must have previous_id = last_id of the diff before.
  /// True where it was applied. Cost  O(log prices) an update, O(1) near the best.
  bool diff(std::span<const LevelUpdate> updates, std::uint64_t first_id, std::uint64_t last_id,
            std::uint64_t previous_id, UnixNanos ts_event, UnixNanos ts_recv);

  bool ready() const noexcept { return ready_; }
  /// Number of the last update taken.
  std::uint64_t last_id() const noexcept { return last_id_; }
  const LevelCounters& counters() const noexcept { return counters_; }
  std::size_t levels(market::Side side) const noexcept { return ladder(side).size(); }
  /// Empty beyond the last.
  Level level(market::Side side, std::size_t rank) const noexcept;
  /// False, and `out` untouched, unless ready().
  bool view(DepthView& out) const noexcept;

 private:
  using Ladder = PriceLadder<std::int64_t>;
  const Ladder& ladder(market::Side side) const noexcept {
    return side == market::Side::kBid ? bids_ : asks_;
  }
  void apply(const LevelUpdate& update);
  void finish(std::uint64_t last_id, UnixNanos ts_event, UnixNanos ts_recv);

  market::InstrumentKey instrument_;
  Ladder bids_, asks_;
  bool ready_ = false;
  bool after_snapshot_ = false;  ///< no diff applied since
  std::uint64_t last_id_ = 0;
  UnixNanos ts_event_ = kNullTime;
  UnixNanos ts_recv_ = kNullTime;
  LevelCounters counters_{};
};

}  // namespace foxhunt::book
