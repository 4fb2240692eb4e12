#pragma once
// Bitstamp's recorded orders into an OrderBook: CSV with the columns id, timestamp,
// exchange.timestamp, price, volume, action, direction; times in milliseconds, volumes in 1e-8
// coins.
//
// Each row is an event. `created` adds, `changed` gives price and rest, `deleted` takes out, in
// whole, whatever rest it names. A recording begins in mid-market and holds no snapshot: the book
// then has only orders that the recording has named since, and what belongs to earlier ones is
// counted (unknown_cancel, unknown_modify: the latter are added). Best prices are right only when
// those orders have gone.

#include <cstdint>
#include <string>
#include <string_view>

#include "foxhunt/book/order_book.h"

namespace foxhunt::book {

struct BitstampCounters {
  std::int64_t rows = 0;  ///< = created + changed + deleted; without the header
  std::int64_t created = 0;
  std::int64_t changed = 0;
  std::int64_t deleted = 0;
  std::int64_t steps_back = 0;  ///< rows received before the row in front of them: taken in order
};

class BitstampFeed {
 public:
  /// Lifetime  `book` outlives the feed. `name` stands for the file in messages.
  BitstampFeed(OrderBook& book, std::string name) : book_(book), name_(std::move(name)) {}

  /// One line without its end, the header first. True where an event has ended, as every row does.
  /// Errors  FormatError with name, line and what is wrong: another header, a number of fields, an
  /// id, time, price or volume that is none, an unknown action or direction.
  bool line(std::string_view text);
  const BitstampCounters& counters() const noexcept { return counters_; }

 private:
  [[noreturn]] void fail(const std::string& what) const;

  OrderBook& book_;
  std::string name_;
  std::int64_t lines_ = 0;
  UnixNanos last_ = kNullTime;
  BitstampCounters counters_{};
};

}  // namespace foxhunt::book
