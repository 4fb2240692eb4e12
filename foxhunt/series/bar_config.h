#pragma once
// Which bars are to be built from trades or quotes.

#include <cstdint>

namespace foxhunt::series {

/// When a bar ends. A trade is never split: the bar ends with the trade that reaches the size.
enum class BarKind : std::uint8_t {
  kTime,       ///< every `size` seconds, on the grid of UTC
  kSession,    ///< with the session; `size` is not used
  kTick,       ///< after `size` trades (of quotes: changes of the mid)
  kVolume,     ///< at `size` contracts or more
  kDollar,     ///< at `size` units of currency or more: |price| x contracts x multiplier
  kRange,      ///< when high - low is `size` ticks of the contract or more
  kImbalance,  ///< when the sum of signed trades has gone further than ImbalanceRule expects
};

/// What becomes of a bar that a break cuts before it is whole. Time bars end with their session and
/// are whole then; only the end of the data cuts them.
enum class CutBars : std::uint8_t { kKeep, kDrop };

/// By which time trades are put into time bars and sessions.
enum class Clock : std::uint8_t { kEvent, kReceived };

/// What an imbalance sums up: the trade's sign, or its sign times its contracts.
enum class ImbalanceOf : std::uint8_t { kTicks, kVolume };

/// Whose sign that is. kAggressor: the side the file names, by price changes only where it names
/// none; kPrice: always by price changes (up buys, down sells, unchanged as before).
enum class SignRule : std::uint8_t { kAggressor, kPrice };

/// How far an imbalance may go: `size` itself, or what series/imbalance_rule.h expects, with `size`
/// trades for the first bar.
enum class Expectation : std::uint8_t { kFixed, kRunning };

/// Time bars without a trade: none, as in the exchange's files, or flat ones that say so.
enum class Holes : std::uint8_t { kSkip, kFill };

struct BarConfig {
  BarKind kind = BarKind::kTime;
  std::int64_t size = 60;
  CutBars cut = CutBars::kKeep;
  Clock clock = Clock::kEvent;
  ImbalanceOf imbalance_of = ImbalanceOf::kTicks;
  SignRule sign = SignRule::kAggressor;
  Expectation expectation = Expectation::kRunning;
  std::int64_t expectation_bars = 3;  ///< span of the moving averages
  Holes holes = Holes::kSkip;
};

}  // namespace foxhunt::series
