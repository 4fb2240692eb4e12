#pragma once
// A file of trades or quotes becomes a file of bars.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "foxhunt/market/reader.h"
#include "foxhunt/series/bar_config.h"
#include "foxhunt/series/event_bar.h"
#include "foxhunt/series/tick_source.h"

namespace foxhunt::series {

struct BarReport {
  std::string symbol;  ///< "" where the file says none
  TickCounters ticks;
  BarCounters bars;
  std::int64_t filled = 0;      ///< flat bars in holes, beside bars.bars
  std::uint64_t volume = 0;     ///< contracts in the bars given out
  UnixNanos first = kNullTime;  ///< start of the first bar
  UnixNanos last = kNullTime;   ///< end of the last bar
  bool truncated = false;       ///< the input was cut short

  /// For people: what came out, and of what was left out how much and why.
  std::string to_text() const;
  std::string to_json() const;
};

/// Hands every bar to `take`, in the order in which they became known. Memory is flat.
/// Errors  what reader, source and builder throw.
BarReport make_bars(market::Reader& reader, const TickFilter& filter, const BarConfig& config,
                    const std::function<void(const EventBar&)>& take);

/// The same into a file: DBN where its name ends in .dbn or .dbn.zst, else CSV with a line a bar:
///   ts_event,ts_end,ts_available,symbol,open,high,low,close,volume,ticks,buy_volume,sell_volume,
///   value,imbalance,cut,filled
/// with times in ISO 8601 to the nanosecond, ts_event the start. DBN holds time bars of 1 s, 1 min,
/// 1 h, 1 d alone and cannot mark a cut one. The file appears whole or not at all.
/// Errors  ConfigError: DBN asked for other bars; DataError: DBN asked of an input without symbols
///         or without a dataset; IoError.
BarReport make_bars(market::Reader& reader, const TickFilter& filter, const BarConfig& config,
                    const std::filesystem::path& out);

}  // namespace foxhunt::series
