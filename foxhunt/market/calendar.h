#pragma once
// When a product trades: sessions of CME Globex from a small table, in UTC, with holidays, early
// closes and DST.
//
// A session is one trade date: from its open (17:00 Chicago of the evening before) to its close,
// e.g. the ES session "2013-10-08" runs 2013-10-07 22:00 UTC … 2013-10-08 21:15 UTC. Sequences,
// windows and labels never cross from one session into the next.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/base/time.h"

namespace foxhunt::market {

struct Session {
  /// The day on which the session ends. On a US bank holiday that halts at noon and opens again at
  /// 17:00 (Thanksgiving) the exchange books both parts under the next business day; here each part
  /// is a session with its own date.
  Date trade_date{};
  UnixNanos open = kNullTime;
  UnixNanos close = kNullTime;  ///< exclusive; an early close where the day has one
  bool early_close = false;
  /// A pause of all trading inside the session: equity indices paused from 15:15 to 15:30 Chicago
  /// until June 2021. [halt_start, halt_end); both null where there is none.
  UnixNanos halt_start = kNullTime;
  UnixNanos halt_end = kNullTime;

  bool halted_at(UnixNanos t) const { return halt_start <= t && t < halt_end; }
  /// close - open without the halt.
  std::chrono::nanoseconds trading_time() const { return (close - open) - (halt_end - halt_start); }
  friend bool operator==(const Session&, const Session&) = default;
};

/// Cheap to copy, safe to share between threads.
class Calendar {
 public:
  /// `root`: "ES", "NQ", "ZN", "6E", … Cost  about a millisecond: keep the object.
  /// Errors  ConfigError naming the products that are known, or the package that is missing
  /// (tzdata).
  static Calendar for_product(std::string_view root);
  static std::vector<std::string> products();

  /// The session that contains `t` (its halt included), or nullopt while the market is closed:
  /// daily break, weekend, holiday, and any time outside 1998 to 2036. Cost  O(log n), no
  /// allocation.
  std::optional<Session> session_at(UnixNanos t) const;
  /// The session of a trade date, or nullopt where it has none.
  std::optional<Session> session_on(Date trade_date) const;
  /// Sessions that overlap [from, to), in order.
  std::vector<Session> sessions_between(UnixNanos from, UnixNanos to) const;

  const std::string& product() const { return product_; }
  /// First and last date that the table says anything about. Outside them only weekly hours are
  /// known, no holidays.
  Date holidays_from() const;
  Date holidays_until() const;

 private:
  struct Table;
  Calendar(std::string product, std::shared_ptr<const Table> table);

  std::string product_;
  std::shared_ptr<const Table> table_;
};

}  // namespace foxhunt::market
