#pragma once
// Is a market trading now? Keeps the session of the last answer.

#include "foxhunt/doctor/series.h"

namespace foxhunt::doctor {

class TradingHours {
 public:
  /// True where nobody knows the series' hours.
  bool open_at(const Series& series, UnixNanos t) {
    if (series.calendar == nullptr || (t >= from_ && t < to_)) return true;
    const auto session = series.calendar->session_at(t);
    if (!session || session->halted_at(t)) return false;
    const bool halts = session->halt_start < session->halt_end;
    from_ = halts && t >= session->halt_end ? session->halt_end : session->open;
    to_ = halts && t < session->halt_start ? session->halt_start : session->close;
    return true;
  }

 private:
  UnixNanos from_ = kNullTime;  ///< open within [from_, to_)
  UnixNanos to_ = kNullTime;
};

}  // namespace foxhunt::doctor
