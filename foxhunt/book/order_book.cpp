#include "foxhunt/book/order_book.h"

namespace foxhunt::book {
namespace {

using market::OrderEvent;
using market::Side;

/// Of one order: eight million of them at one price do not overflow.
constexpr std::int64_t kMostSize = std::int64_t{1} << 40U;

bool has(std::uint8_t flags, std::uint8_t bit) { return (flags & bit) != 0; }

}  // namespace

OrderBook::OrderBook(market::InstrumentKey instrument, std::size_t orders, std::size_t prices)
    : instrument_(instrument), index_(orders), bids_(true, prices), asks_(false, prices) {
  orders_.reserve(orders);
  queues_.reserve(2 * prices);
}

bool OrderBook::apply(const OrderEvent& event) {
  ++counters_.records;
  if (event.instrument != instrument_) {
    ++counters_.foreign;
    return false;
  }
  begin(event);
  act(event);
  if (!has(event.flags, market::flag::kLast)) return false;
  if (in_snapshot_) {
    in_snapshot_ = false;
    started_ = true;
  }
  return end_event(event.ts_event, event.ts_recv, event.sequence);
}

/// What a record's flags say before it acts.
void OrderBook::begin(const OrderEvent& event) noexcept {
  if (at_end_) quality_.bad_ts_recv = false;
  at_end_ = false;
  if (has(event.flags, market::flag::kSnapshot)) {
    ++counters_.snapshot_rows;
    if (!in_snapshot_) {
      ++counters_.snapshots;
      empty_out();
      quality_.maybe_bad_book = false;
      in_snapshot_ = true;
    }
    started_ = false;
  } else if (in_snapshot_) {
    ++counters_.open_snapshots;
    in_snapshot_ = false;
    started_ = true;
    quality_.bad_ts_recv = false;  // of its rows, not of this event
  }
  if (event.action == 'R') quality_.maybe_bad_book = false;
  if (has(event.flags, market::flag::kMaybeBadBook)) {
    ++counters_.maybe_bad_book;
    quality_.maybe_bad_book = true;
  }
  if (has(event.flags, market::flag::kBadTsRecv)) {
    ++counters_.bad_ts_recv;
    quality_.bad_ts_recv = true;
  }
}

void OrderBook::act(const OrderEvent& event) {
  switch (event.action) {
    case 'A':
      ++counters_.adds;
      add(event.order_id, event.side, event.price, event.size);
      break;
    case 'C':
      ++counters_.cancels;
      if (const std::uint32_t at = index_.find(event.order_id); at != kNone) {
        const Queue& queue = queues_[orders_[at].level];
        if ((event.side == Side::kBid) != queue.is_bid) ++counters_.other_side;
        if (event.price != queue.price) ++counters_.other_price;
      }
      cancel(event.order_id, event.size);
      break;
    case 'M':
      ++counters_.modifies;
      modify(event.order_id, event.side, event.price, event.size);
      break;
    case 'R':
      ++counters_.clears;
      empty_out();
      started_ = !in_snapshot_;  // of a snapshot rows follow
      break;
    case 'T':
    case 'F':
    case 'N':
      ++counters_.passive;
      break;
    default:
      ++counters_.unknown_action;
  }
}

bool OrderBook::is_usable(Side side, Price price, std::int64_t size) noexcept {
  const bool usable = (side == Side::kBid || side == Side::kAsk) && !price.is_null() && size > 0 &&
                      size <= kMostSize;
  if (!usable) ++counters_.bad_value;
  return usable;
}

void OrderBook::add(std::uint64_t id, Side side, Price price, std::int64_t size) {
  at_end_ = false;
  if (!is_usable(side, price, size)) return;
  if (const std::uint32_t at = index_.find(id); at != kNone) {
    ++counters_.duplicate_add;
    take_out(at);
  }
  place(id, side, price, size);
}

void OrderBook::cancel(std::uint64_t id, std::int64_t amount) {
  at_end_ = false;
  const std::uint32_t at = index_.find(id);
  if (at == kNone) {
    ++counters_.unknown_cancel;
    return;
  }
  const std::int64_t rests = orders_[at].size;
  if (amount <= 0) {
    ++counters_.bad_value;
  } else if (amount < rests) {
    reduce(at, rests - amount);
  } else {
    if (amount > rests) ++counters_.over_cancel;
    take_out(at);
  }
}

void OrderBook::modify(std::uint64_t id, Side side, Price price, std::int64_t size) {
  at_end_ = false;
  if (!is_usable(side, price, size)) return;
  const std::uint32_t at = index_.find(id);
  if (at == kNone) {
    ++counters_.unknown_modify;
    place(id, side, price, size);
    return;
  }
  Order& order = orders_[at];
  const Queue& queue = queues_[order.level];
  const bool same_side = queue.is_bid == (side == Side::kBid);
  if (!same_side) ++counters_.other_side;
  if (same_side && queue.price == price && size <= order.size) {
    reduce(at, size);
    return;
  }
  unlink(order);
  order.size = size;
  link(at, side, price);
}

bool OrderBook::remove(std::uint64_t id) {
  at_end_ = false;
  const std::uint32_t at = index_.find(id);
  if (at == kNone) {
    ++counters_.unknown_cancel;
    return false;
  }
  take_out(at);
  return true;
}

void OrderBook::clear() noexcept {
  at_end_ = false;
  empty_out();
  quality_ = {};
  started_ = true;
}

bool OrderBook::end_event(UnixNanos ts_event, UnixNanos ts_recv, std::uint32_t sequence) {
  at_end_ = true;
  ts_event_ = ts_event;
  ts_recv_ = ts_recv;
  sequence_ = sequence;
  if (!started_) return false;
  ++counters_.events;
  if (!bids_.empty() && !asks_.empty()) {
    const Price bid = bids_.price(0);
    const Price ask = asks_.price(0);
    counters_.crossed += static_cast<std::int64_t>(bid > ask);
    counters_.locked += static_cast<std::int64_t>(bid == ask);
  }
  return true;
}

void OrderBook::place(std::uint64_t id, Side side, Price price, std::int64_t size) {
  std::uint32_t at = free_order_;
  if (at == kNone) {
    at = static_cast<std::uint32_t>(orders_.size());
    orders_.emplace_back();
  } else {
    free_order_ = orders_[at].behind;
  }
  orders_[at].id = id;
  orders_[at].size = size;
  index_.insert(id, at);
  link(at, side, price);
}

/// At the end of the queue at `price`, which is opened where it is new.
void OrderBook::link(std::uint32_t at, Side side, Price price) {
  const bool is_bid = side == Side::kBid;
  Ladder& side_prices = ladder(is_bid);
  const std::size_t place = side_prices.locate(price);
  Order& order = orders_[at];
  order.behind = kNone;
  if (side_prices.holds(place, price)) {
    order.level = side_prices.value_at(place);
    Queue& queue = queues_[order.level];
    order.ahead = queue.last;
    orders_[queue.last].behind = at;
    queue.last = at;
    queue.size += order.size;
    ++queue.orders;
    return;
  }
  std::uint32_t fresh = free_queue_;
  if (fresh == kNone) {
    fresh = static_cast<std::uint32_t>(queues_.size());
    queues_.emplace_back();
  } else {
    free_queue_ = queues_[fresh].first;
  }
  queues_[fresh] = {price, order.size, 1, at, at, is_bid};
  side_prices.insert(place, price, fresh);
  order.level = fresh;
  order.ahead = kNone;
}

/// Out of its queue, which is closed where it was the last one.
void OrderBook::unlink(const Order& order) noexcept {
  Queue& queue = queues_[order.level];
  queue.size -= order.size;
  --queue.orders;
  (order.ahead == kNone ? queue.first : orders_[order.ahead].behind) = order.behind;
  (order.behind == kNone ? queue.last : orders_[order.behind].ahead) = order.ahead;
  if (queue.orders != 0) return;
  Ladder& side_prices = ladder(queue.is_bid);
  side_prices.erase(side_prices.locate(queue.price));
  queue.first = free_queue_;
  free_queue_ = order.level;
}

void OrderBook::take_out(std::uint32_t at) noexcept {
  Order& order = orders_[at];
  unlink(order);
  index_.erase(order.id);
  order.behind = free_order_;
  free_order_ = at;
}

void OrderBook::reduce(std::uint32_t at, std::int64_t size) noexcept {
  Order& order = orders_[at];
  queues_[order.level].size -= order.size - size;
  order.size = size;
}

void OrderBook::empty_out() noexcept {
  index_.clear();
  orders_.clear();
  queues_.clear();
  free_order_ = free_queue_ = kNone;
  bids_.clear();
  asks_.clear();
}

void OrderBook::reset() noexcept {
  empty_out();
  quality_ = {};
  started_ = in_snapshot_ = at_end_ = false;
  ts_event_ = ts_recv_ = kNullTime;
  sequence_ = 0;
  counters_ = {};
}

}  // namespace foxhunt::book
