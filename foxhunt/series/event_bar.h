#pragma once
// A bar of any kind, and what it is made of.

#include <cstdint>
#include <string>

#include "foxhunt/market/record.h"

namespace foxhunt::series {

/// One trade, or one mid of a book (size 0), as bar builders see it.
struct Tick {
  UnixNanos ts_event = kNullTime;
  UnixNanos ts_recv = kNullTime;
  Price price{};
  std::uint32_t size = 0;
  market::Side aggressor = market::Side::kNone;
};

/// It may be acted on at `available_at` or later, never at `start`.
struct EventBar {
  UnixNanos start = kNullTime;  ///< time bars: of the interval; others: the first trade's time
  UnixNanos end = kNullTime;    ///< time bars: of the interval, exclusive; others: the last trade's
  /// When its last trade had been received; of time bars not before `end`.
  UnixNanos available_at = kNullTime;
  Price open{}, high{}, low{}, close{};
  std::uint64_t volume = 0;       ///< contracts
  std::uint64_t ticks = 0;        ///< trades, or mids
  std::uint64_t buy_volume = 0;   ///< of trades whose aggressor bought
  std::uint64_t sell_volume = 0;  ///< of trades whose aggressor sold; the rest is unknown
  double value = 0;               ///< currency: sum of |price| x contracts x multiplier
  std::int64_t imbalance = 0;     ///< of signs, or of signed contracts; imbalance bars only
  bool cut = false;               ///< a break or the data's end came before the bar was whole
  bool filled = false;            ///< no trade: a flat bar at the close before it (hole_filler.h)
};

/// What became of every tick: ticks = in bars + those dropped with cut bars + the two left out.
struct BarCounters {
  std::int64_t ticks = 0;
  std::int64_t without_price = 0;    ///< no price or no time: left out
  std::int64_t outside_session = 0;  ///< while the calendar says closed or halted: left out
  std::uint64_t outside_volume = 0;  ///< contracts of those
  std::int64_t late = 0;             ///< time before that of an earlier tick: put into the open bar
  std::int64_t bars = 0;             ///< given out
  std::int64_t cut_bars = 0;         ///< of all, given out or dropped
  std::int64_t dropped_bars = 0;     ///< cut and not given out
  std::int64_t dropped_ticks = 0;
  std::uint64_t dropped_volume = 0;
};

}  // namespace foxhunt::series
