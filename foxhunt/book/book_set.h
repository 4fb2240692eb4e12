#pragma once
// Books of several instruments and publishers, and the best price over all publishers of one.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "foxhunt/book/order_book.h"

namespace foxhunt::book {

/// Best prices of one instrument over its publishers: the sizes of all that quote the best price.
struct ConsolidatedBest {
  Level bid{}, ask{};
  std::uint32_t bid_publishers = 0, ask_publishers = 0;  ///< that quote it
  std::uint32_t ready = 0;  ///< publishers whose book may be looked at; the others do not count
};

class BookSet {
 public:
  /// Room of each book (order_book.h).
  explicit BookSet(std::size_t orders = 1U << 15U, std::size_t prices = 1U << 12U)
      : orders_(orders), prices_(prices) {}

  /// To the book of the record's instrument and publisher, which is made where it is new.
  /// Returns that book; book.ready() says whether an event has ended.
  /// Cost  O(log books), O(1) where records of one book follow each other; allocates for a new book
  /// only.
  OrderBook& apply(const market::OrderEvent& event);

  /// nullptr where no record of it has come.
  const OrderBook* find(market::InstrumentKey key) const noexcept;
  std::size_t size() const noexcept { return books_.size(); }
  /// In the order of instrument, then publisher.
  const OrderBook& at(std::size_t i) const noexcept { return *books_[i]; }

  /// Ids are unique only within a dataset and a UTC date: one set holds one such scope.
  /// Cost  O(log books + publishers).
  ConsolidatedBest best(std::uint32_t instrument_id) const noexcept;

 private:
  std::size_t locate(market::InstrumentKey key) const noexcept;

  std::size_t orders_, prices_;
  std::vector<std::unique_ptr<OrderBook>> books_;
  std::size_t last_ = 0;  ///< book of the last record
};

}  // namespace foxhunt::book
