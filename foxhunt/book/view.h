#pragma once
// What every kind of book looks like from outside, whatever it was built from: orders, levels or
// quotes.
//
// Sizes are whole numbers of the venue's smallest step: contracts for futures, 1e-8 coins for the
// crypto converters.

#include <array>
#include <cstddef>
#include <cstdint>

#include "foxhunt/base/price.h"
#include "foxhunt/base/time.h"
#include "foxhunt/market/record.h"

namespace foxhunt::book {

/// All orders of one side at one price. An empty level has a null price, size 0 and no orders.
struct Level {
  Price price{};
  std::int64_t size = 0;
  std::uint32_t orders = 0;  ///< 0 where the feed does not say

  bool is_empty() const noexcept { return price.is_null(); }
  friend bool operator==(const Level&, const Level&) = default;
};

/// What is known against a view. A view with any of them is whole, but may be wrong.
struct Quality {
  bool maybe_bad_book = false;  ///< the feed lost records since the last clear or snapshot
  bool bad_ts_recv = false;     ///< a record of this event has a ts_recv that is not to be trusted
  friend bool operator==(const Quality&, const Quality&) = default;
};

/// The ten best levels of both sides after a whole event, best first: what mbp-10 holds.
struct DepthView {
  static constexpr std::size_t kLevels = 10;

  market::InstrumentKey instrument{};
  UnixNanos ts_event = kNullTime;  ///< of the event's last record
  UnixNanos ts_recv = kNullTime;
  std::uint32_t sequence = 0;
  Quality quality{};
  std::array<Level, kLevels> bids{};  ///< filled from the front; the rest is empty
  std::array<Level, kLevels> asks{};

  bool has_both_sides() const noexcept { return !bids[0].is_empty() && !asks[0].is_empty(); }
  /// Somebody would buy for more than somebody asks: an auction, or a broken feed.
  bool is_crossed() const noexcept { return has_both_sides() && bids[0].price > asks[0].price; }
  bool is_locked() const noexcept { return has_both_sides() && bids[0].price == asks[0].price; }
  friend bool operator==(const DepthView&, const DepthView&) = default;
};

}  // namespace foxhunt::book
