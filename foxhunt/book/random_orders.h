#pragma once
// For tests and benchmarks: streams of orders, right and wrong.

#include <cstdint>
#include <utility>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/market/record.h"

namespace foxhunt::book::test {

using market::OrderEvent;
using market::Side;

inline constexpr market::InstrumentKey kKey{.publisher_id = 1, .instrument_id = 7};

inline OrderEvent event(char action, std::uint64_t id, Side side, std::int64_t price,
                        std::uint32_t size, std::uint8_t flags = market::flag::kLast) {
  OrderEvent e;
  e.instrument = kKey;
  e.ts_event = e.ts_recv = from_nanos(1'700'000'000'000'000'000);
  e.action = action;
  e.order_id = id;
  e.side = side;
  e.price = Price{price};
  e.size = size;
  e.flags = flags;
  return e;
}

/// Orders around a price that wanders, in ticks of `tick`; `garbage` of 1000 events are wrong in
/// some way. About `live` orders rest at a time.
class RandomOrders {
 public:
  /// Where the price does not wander, bids and asks never cross.
  RandomOrders(std::uint64_t seed, std::int64_t tick, std::uint64_t live, std::uint64_t garbage,
               bool wanders = true)
      : rng_(seed), tick_(tick), live_(live), garbage_(garbage), wanders_(wanders) {}

  OrderEvent next() {
    at_ += std::chrono::nanoseconds{rng_.below(2'000'000)};
    OrderEvent e = rng_.below(1000) < garbage_ ? wrong() : right();
    e.ts_event = e.ts_recv = at_;
    e.sequence = ++sequence_;
    if (rng_.below(4) == 0) e.flags = 0;  // more of this event follows
    return e;
  }

 private:
  struct Known {
    std::uint64_t id;
    Side side;
    std::int64_t price;
    std::uint32_t size;
  };

  OrderEvent right() {
    if (wanders_ && rng_.below(50) == 0) middle_ += static_cast<std::int64_t>(rng_.below(3)) - 1;
    const std::uint64_t draw = rng_.below(100);
    if (known_.empty() || draw < (known_.size() < live_ ? 50U : 20U)) {
      const Known order{++last_id_, rng_.below(2) == 0 ? Side::kBid : Side::kAsk, 0, size()};
      known_.push_back(order);
      known_.back().price = price(order.side);
      return event('A', order.id, order.side, known_.back().price, order.size);
    }
    const std::size_t at = rng_.below(known_.size());
    Known& order = known_[at];
    if (draw < 60) {
      const std::uint32_t part =
          rng_.below(3) == 0 ? 1 + static_cast<std::uint32_t>(rng_.below(order.size)) : order.size;
      const OrderEvent e = event('C', order.id, order.side, order.price, part);
      order.size -= part;
      if (order.size == 0) std::swap(order, known_.back()), known_.pop_back();
      return e;
    }
    if (draw < 80) {
      if (rng_.below(2) == 0) order.price = price(order.side);
      if (rng_.below(2) == 0) order.size = size();
      return event('M', order.id, order.side, order.price, order.size);
    }
    return event("TFN"[rng_.below(3)], order.id, order.side, order.price, order.size);
  }
  OrderEvent wrong() {
    const Side side = rng_.below(2) == 0 ? Side::kBid : Side::kAsk;
    OrderEvent e =
        event("ACMACMACMRTFNX?"[rng_.below(15)], kFirstId + rng_.below(last_id_ - kFirstId + 5),
              side, price(side), static_cast<std::uint32_t>(rng_.below(12)));
    if (e.action == 'R' && rng_.below(20) != 0) e.action = 'C';
    if (e.action == 'R') known_.clear();
    const std::uint64_t kind = rng_.below(8);
    if (kind == 0) e.price = Price::null();
    if (kind == 1) e.side = Side::kNone;
    if (kind == 2) e.price = Price{-e.price.nano};
    if (kind == 3) e.size = ~0U;
    return e;
  }
  std::int64_t price(Side side) {
    const auto away =
        static_cast<std::int64_t>(rng_.below(3) == 0 ? rng_.below(60) : rng_.below(6));
    return tick_ * (middle_ + (side == Side::kBid ? -away - 1 : away));
  }
  std::uint32_t size() { return 1 + static_cast<std::uint32_t>(rng_.below(20)); }

  static constexpr std::uint64_t kFirstId = 6'413'000'000'000;

  Rng rng_;
  std::int64_t tick_;
  std::uint64_t live_, garbage_;
  bool wanders_;
  std::int64_t middle_ = 19'000;
  std::uint64_t last_id_ = kFirstId;
  std::uint32_t sequence_ = 0;
  UnixNanos at_ = from_nanos(1'703'548'800'000'000'000);
  std::vector<Known> known_;
};

}  // namespace foxhunt::book::test
