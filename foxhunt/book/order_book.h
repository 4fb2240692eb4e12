#pragma once
// The order book of one instrument of one publisher, rebuilt order by order.
//
// A adds at the end of its price's queue; C takes `size` away (a part or all); M gives a new price
// and size, and an order keeps its place in the queue only where its price stays and its size does
// not grow; R clears. T, F and N never change a book: the C or M that follows them does.
//
// A snapshot (rows flagged SNAPSHOT) replaces what was there; it ends with its LAST, or, in files
// that flag none (ES of 2023), before the first record that is no row of it. Before the first
// snapshot or R the book does not know what rests: it takes events, but is not ready. Nor is it
// between the records of one event, before the one flagged LAST. MAYBE_BAD_BOOK sticks until the
// next snapshot or R. What is wrong in the data is counted, and counters.h says what the book does
// about it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "foxhunt/base/bytes.h"
#include "foxhunt/book/counters.h"
#include "foxhunt/book/order_index.h"
#include "foxhunt/book/price_ladder.h"
#include "foxhunt/book/view.h"
#include "foxhunt/market/record.h"

namespace foxhunt::book {

/// Where an order stands.
struct QueuePosition {
  market::Side side = market::Side::kNone;
  Price price{};
  std::int64_t size = 0;           ///< of the order
  std::int64_t size_ahead = 0;     ///< of the orders before it at its price
  std::uint32_t orders_ahead = 0;  ///< their number
};

struct RestingOrder {
  std::uint64_t id = 0;
  std::int64_t size = 0;
  friend bool operator==(const RestingOrder&, const RestingOrder&) = default;
};

class OrderBook {
 public:
  /// Room for so many orders and so many prices a side is taken at once; apply() allocates only
  /// where a book outgrows it, and then doubles it.
  explicit OrderBook(market::InstrumentKey instrument, std::size_t orders = 1U << 15U,
                     std::size_t prices = 1U << 12U);

  /// Whether the record ends an event at which the book may be looked at: ready() afterwards.
  /// Cost  O(1) near the best price; see price_ladder.h for far ones. No allocation.
  bool apply(const market::OrderEvent& event);

  // The same actions without a record, for converters of other feeds: sizes over 2^32, and none of
  // the flags. They count what they find; whoever uses them calls end_event().
  void add(std::uint64_t id, market::Side side, Price price, std::int64_t size);
  void cancel(std::uint64_t id, std::int64_t amount);
  void modify(std::uint64_t id, market::Side side, Price price, std::int64_t size);
  /// Takes an order out whatever its size; false (and counted) where there is none.
  bool remove(std::uint64_t id);
  /// R: empty, and from here on complete.
  void clear() noexcept;
  bool end_event(UnixNanos ts_event, UnixNanos ts_recv, std::uint32_t sequence);

  const market::InstrumentKey& instrument() const noexcept { return instrument_; }
  /// At the end of an event, of a book that began with a snapshot or R.
  bool ready() const noexcept { return started_ && at_end_; }
  /// Began with a snapshot or R; false also while a snapshot is being read.
  bool started() const noexcept { return started_; }
  const Quality& quality() const noexcept { return quality_; }
  const BookCounters& counters() const noexcept { return counters_; }

  /// False, and `out` untouched, unless ready(). Of both sides the `levels` best are written, at
  /// most ten; those behind them stay what they were in `out`. Cost  O(levels).
  bool view(DepthView& out, std::size_t levels = DepthView::kLevels) const noexcept;
  /// As after the last record, ready or not; empty beyond the last level. Rank 0 is the best.
  Level level(market::Side side, std::size_t rank) const noexcept;
  std::size_t levels(market::Side side) const noexcept;
  std::size_t orders() const noexcept { return index_.size(); }
  /// Cost  O(orders ahead).
  std::optional<QueuePosition> position(std::uint64_t id) const noexcept;
  /// First come first, of the level of that rank; empty beyond the last.
  std::vector<RestingOrder> queue(market::Side side, std::size_t rank) const;

  /// Empty, not started, counters at 0; the memory is kept.
  void reset() noexcept;
  /// One part (base/state_part.h). Equal books give equal bytes. Cost  16 bytes an order.
  void save(ByteWriter& to) const;
  /// Errors  FormatError: damaged, another instrument, an order twice, prices out of order; the
  /// book is then as it was.
  void restore(ByteReader& from);

 private:
  struct Order {
    std::uint64_t id;
    std::int64_t size;
    std::uint32_t level, ahead, behind;  ///< places in the pools; kNone at the ends of a queue
  };
  struct Queue {
    Price price;
    std::int64_t size;
    std::uint32_t orders, first, last;
    bool is_bid;
  };
  using Ladder = PriceLadder<std::uint32_t>;
  static constexpr std::uint32_t kNone = OrderIndex::kNone;

  bool is_usable(market::Side side, Price price, std::int64_t size) noexcept;
  void begin(const market::OrderEvent& event) noexcept;
  void act(const market::OrderEvent& event);
  void place(std::uint64_t id, market::Side side, Price price, std::int64_t size);
  void take_out(std::uint32_t at) noexcept;
  void unlink(const Order& order) noexcept;
  void link(std::uint32_t at, market::Side side, Price price);
  void reduce(std::uint32_t at, std::int64_t size) noexcept;
  void empty_out() noexcept;
  Ladder& ladder(bool is_bid) noexcept { return is_bid ? bids_ : asks_; }
  const Ladder& ladder(bool is_bid) const noexcept { return is_bid ? bids_ : asks_; }

  market::InstrumentKey instrument_;
  OrderIndex index_;
  std::vector<Order> orders_;
  std::vector<Queue> queues_;
  std::uint32_t free_order_ = kNone;  ///< chained through Order::behind
  std::uint32_t free_queue_ = kNone;  ///< chained through Queue::first
  Ladder bids_, asks_;
  bool started_ = false;
  bool in_snapshot_ = false;
  bool at_end_ = false;
  Quality quality_{};
  UnixNanos ts_event_ = kNullTime;
  UnixNanos ts_recv_ = kNullTime;
  std::uint32_t sequence_ = 0;
  BookCounters counters_{};
};

}  // namespace foxhunt::book
