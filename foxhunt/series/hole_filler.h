#pragma once
// Intervals without a trade as flat bars of no volume, marked as such.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "foxhunt/market/calendar.h"
#include "foxhunt/series/event_bar.h"

namespace foxhunt::series {

/// Between two time bars of one session, halts left out: a bar an interval, at the close before it,
/// volume and ticks 0, `filled`. Before a session's first bar and behind its last there is none.
class HoleFiller {
 public:
  HoleFiller(market::Calendar calendar, std::chrono::nanoseconds span)
      : calendar_(std::move(calendar)), span_(span) {}

  /// Hands `take` what lies before `bar`, then `bar`; bars by start. Cost  O(1) a bar handed out.
  template <class Take>
  void push(const EventBar& bar, Take&& take) {
    if (last_ && bar.start < session_.close) {
      for (UnixNanos start = last_->end; start < bar.start;) {
        if (session_.halted_at(start)) {
          start = session_.halt_end;
          continue;
        }
        const UnixNanos stop = session_.halt_start > start ? session_.halt_start : session_.close;
        const UnixNanos grid = UnixNanos{start.time_since_epoch() / span_ * span_} + span_;
        EventBar filled{.start = start, .end = std::min({grid, stop, bar.start})};
        filled.available_at = filled.end;
        filled.open = filled.high = filled.low = filled.close = last_->close;
        filled.filled = true;
        ++filled_;
        take(filled);
        start = filled.end;
      }
    } else if (const auto session = calendar_.session_at(bar.start)) {
      session_ = *session;
    }
    take(bar);
    last_ = bar;
  }

  std::int64_t filled() const { return filled_; }

 private:
  market::Calendar calendar_;
  std::chrono::nanoseconds span_;
  market::Session session_{};
  std::optional<EventBar> last_;
  std::int64_t filled_ = 0;
};

}  // namespace foxhunt::series
