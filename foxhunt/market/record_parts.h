#pragma once
// What the values of record.h share: who, which side, a level, flags.

#include <cstdint>

#include "foxhunt/base/price.h"
#include "foxhunt/base/time.h"

namespace foxhunt::market {

/// One instrument on one day: ids are unique only within (dataset, UTC date).
struct InstrumentKey {
  std::uint16_t publisher_id = 0;
  std::uint32_t instrument_id = 0;
  friend bool operator==(const InstrumentKey&, const InstrumentKey&) = default;
};

enum class Side : char { kAsk = 'A', kBid = 'B', kNone = 'N' };

/// Of DBN's letter; any other than A and B is none.
constexpr Side side_of(char letter) noexcept {
  if (letter == 'A') return Side::kAsk;
  return letter == 'B' ? Side::kBid : Side::kNone;
}

/// Contracts as records of ours hold them: 4294967295, with which feeds say that there is no size,
/// becomes 0.
constexpr std::uint32_t stated_size(std::uint32_t size) noexcept {
  return size == 0xFFFF'FFFF ? 0 : size;
}

/// One price level on both sides; an empty side has a null price and size 0.
struct BookLevel {
  Price bid{}, ask{};
  std::uint32_t bid_size = 0, ask_size = 0;
  std::uint32_t bid_count = 0, ask_count = 0;
};

/// One level over several venues: the best of each side and the publisher that shows it.
struct ConsolidatedLevel {
  Price bid{}, ask{};
  std::uint32_t bid_size = 0, ask_size = 0;
  std::uint16_t bid_publisher = 0, ask_publisher = 0;
};

/// Bits of a record's flags; test bits, never equality.
namespace flag {
inline constexpr std::uint8_t kLast =
    0x80;  ///< last record of the venue's event: only now the book may be looked at
inline constexpr std::uint8_t kTopOfBook = 0x40;
inline constexpr std::uint8_t kSnapshot = 0x20;  ///< state from before the file, not an event
inline constexpr std::uint8_t kMarketByPrice = 0x10;
inline constexpr std::uint8_t kBadTsRecv = 0x08;
inline constexpr std::uint8_t kMaybeBadBook = 0x04;  ///< a gap that the feed could not recover
}  // namespace flag

}  // namespace foxhunt::market
