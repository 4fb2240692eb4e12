#pragma once
// When a product trades: sessions of CME Globex from a small table, in UTC, with holidays, early closes and DST.
//
// A session is one trading day: from its open (17:00 Chicago of the evening before) to its close, e.g. the ES session
// "2013-10-08" runs 2013-10-07 22:00 UTC … 2013-10-08 20:15 UTC (with the breaks of its time). Sequences, windows and
// labels never cross from one session into the next.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/base/time.h"

namespace foxhunt::market {

struct Session {
  Date trade_date{};  ///< the day the exchange books it under
  UnixNanos open = kNullTime;
  UnixNanos close = kNullTime;  ///< exclusive; an early close where the day has one
  bool early_close = false;
  friend bool operator==(const Session&, const Session&) = default;
};

class Calendar {
 public:
  /// `root`: "ES", "NQ", "ZN", "6E", … Errors  ConfigError naming the products that are known.
  static Calendar for_product(std::string_view root);

  /// The session that contains `t`, or nullopt while the market is closed (break, weekend, holiday).
  std::optional<Session> session_at(UnixNanos t) const;
  /// Sessions that overlap [from, to), in order.
  std::vector<Session> sessions_between(UnixNanos from, UnixNanos to) const;

  const std::string& product() const { return product_; }

 private:
  struct Rules;
  std::string product_;
  const Rules* rules_ = nullptr;  ///< static storage
};

}  // namespace foxhunt::market
