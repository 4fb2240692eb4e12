#pragma once
// Bars of one contract out of its trades, one at a time.
//
//   BarBuilder builder({.kind = BarKind::kVolume, .size = 1000}, contract, calendar);
//   for (const Tick& tick : ticks) for (const EventBar& bar : builder.push(tick)) use(bar);
//   for (const EventBar& bar : builder.finish()) use(bar);

#include <array>
#include <cstdint>
#include <span>

#include "foxhunt/market/calendar.h"
#include "foxhunt/market/contract.h"
#include "foxhunt/series/bar_config.h"
#include "foxhunt/series/event_bar.h"
#include "foxhunt/series/imbalance_rule.h"

namespace foxhunt::series {

/// No bar holds trades of two sessions, or of both sides of a halt (session bars span the halt).
class BarBuilder {
 public:
  /// Errors  ConfigError naming kind, size and rule.
  BarBuilder(const BarConfig& config, const market::Contract& contract, market::Calendar calendar);

  /// The bars that end with this tick, oldest first: at most two, one that a break or the clock
  /// ended before it and one that it makes whole. A bar depends on ticks up to its end alone.
  /// Cost  O(1), no allocation; a search of the calendar when a session begins.
  /// Lifetime  valid until the next call.
  std::span<const EventBar> push(const Tick& tick);
  /// The bar that is still open, as one that was cut; a time bar that ends by `known_until`, to
  /// where the data are known to reach, is whole. The builder is as new then, but for what an
  /// imbalance expects and its counters.
  std::span<const EventBar> finish(UnixNanos known_until = kNullTime);

  const BarCounters& counters() const { return counters_; }

 private:
  /// A stretch of trading that no bar leaves.
  struct Segment {
    UnixNanos begin = kNullTime;
    UnixNanos end = kNullTime;
    UnixNanos halt_start = kNullTime;  ///< of session bars, which span the halt
    UnixNanos halt_end = kNullTime;
    bool holds(UnixNanos t) const {
      return begin <= t && t < end && !(halt_start <= t && t < halt_end);
    }
  };

  /// The one that holds `t`; null while the market is closed or halted.
  Segment segment_at(UnixNanos t) const;
  void open_bar(UnixNanos t, const Tick& tick);
  void add(UnixNanos t, const Tick& tick);
  bool whole() const;
  void close_whole();
  void close_cut();
  void emit();
  std::int64_t signed_of(const Tick& tick);
  bool by_clock() const {
    return config_.kind == BarKind::kTime || config_.kind == BarKind::kSession;
  }

  BarConfig config_;
  market::Contract contract_;
  market::Calendar calendar_;
  ImbalanceRule rule_;
  Segment segment_;
  UnixNanos latest_ = kNullTime;  ///< time of the newest tick
  EventBar bar_;
  bool open_ = false;
  __extension__ __int128 value_ = 0;  ///< of bar_: sum of |price| x contracts in 1e-9 units
  Price sign_price_{};                ///< of the tick rule: last price
  std::int64_t last_sign_ = 0;
  std::array<EventBar, 2> out_;
  std::size_t n_out_ = 0;
  BarCounters counters_;
};

}  // namespace foxhunt::series
