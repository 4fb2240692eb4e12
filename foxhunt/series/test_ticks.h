#pragma once
// Trades for tests: a random walk of ES over sessions, and readers of them.

#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/market/calendar.h"
#include "foxhunt/market/contract.h"
#include "foxhunt/market/reader.h"
#include "foxhunt/series/bar_builder.h"

namespace foxhunt::series::test {

inline const market::Contract& es() { return market::contract_for_product("ES"); }
inline const market::Calendar& es_calendar() {
  static const market::Calendar calendar = market::Calendar::for_product("ES");
  return calendar;
}
inline const UnixNanos kOpen = parse_time("2013-10-07T22:00");  ///< ES session of 2013-10-08

inline Tick tick_at(UnixNanos t, double price, std::uint32_t size,
                    market::Side side = market::Side::kNone) {
  return {.ts_event = t,
          .ts_recv = t + std::chrono::milliseconds(3),
          .price = Price{static_cast<std::int64_t>(price * 4) * 250'000'000},
          .size = size,
          .aggressor = side};
}

/// `n` trades from `start`, mean distance `mean_gap`; breaks of trading are jumped over, so that
/// every trade lies in a session and outside the halt.
class RandomTicks {
 public:
  RandomTicks(std::uint64_t seed, std::chrono::nanoseconds mean_gap, UnixNanos start = kOpen)
      : rng_(seed), gap_(static_cast<double>(mean_gap.count())), time_(start) {}

  Tick next() {
    time_ += std::chrono::nanoseconds(static_cast<std::int64_t>(rng_.uniform(0, 2) * gap_));
    for (;;) {
      const auto session = es_calendar().session_at(time_);
      if (session && !session->halted_at(time_)) break;
      time_ = session ? session->halt_end : time_ + std::chrono::minutes(7);
    }
    price_ += static_cast<std::int64_t>(rng_.below(3)) - 1;
    const auto side = rng_.below(3);
    return {.ts_event = time_,
            .ts_recv = time_ + std::chrono::microseconds(100),
            .price = Price{price_ * 250'000'000},
            .size = 1 + static_cast<std::uint32_t>(rng_.below(30)),
            .aggressor = side == 0   ? market::Side::kAsk
                         : side == 1 ? market::Side::kBid
                                     : market::Side::kNone};
  }

 private:
  Rng rng_;
  double gap_;
  UnixNanos time_;
  std::int64_t price_ = 4 * 1700;
};

inline std::vector<Tick> random_ticks(std::uint64_t seed, std::size_t n,
                                      std::chrono::nanoseconds mean_gap) {
  RandomTicks source(seed, mean_gap);
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < n; ++i) ticks.push_back(source.next());
  return ticks;
}

}  // namespace foxhunt::series::test
