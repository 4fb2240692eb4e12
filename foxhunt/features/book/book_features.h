#pragma once
// Orders in, rows out: an order book and the rows made of it (book_rows.h says which), one record
// at a time. Training and serving use this same object.

#include <cstdint>
#include <optional>
#include <span>

#include "foxhunt/base/bytes.h"
#include "foxhunt/book/order_book.h"
#include "foxhunt/features/book/book_rows.h"
#include "foxhunt/market/calendar.h"
#include "foxhunt/market/contract.h"
#include "foxhunt/market/record.h"

namespace foxhunt::features {

class BookFeatures {
 public:
  /// `orders` and `prices` are the room that the book takes at once (book/order_book.h).
  /// Errors  ConfigError as BookRows.
  BookFeatures(BookFeatureConfig config, Price tick, std::optional<market::Calendar> calendar,
               market::InstrumentKey instrument, std::size_t orders = 1U << 15U,
               std::size_t prices = 1U << 12U);

  const Schema& schema() const noexcept { return rows_.schema(); }
  std::int64_t width() const noexcept { return rows_.width(); }

  /// `row` [F] is written when the answer is kReady. Records come in file order. An event that is
  /// flagged LAST is answered; before that the answer is kInsideEvent.
  /// Errors  ShapeError when `row` is not [F]. Cost  O(F); no allocation within the book's room.
  BookPush push(const market::OrderEvent& event, std::span<float> row);

  const book::OrderBook& book() const noexcept { return book_; }
  /// The book after the last event that ended with one: the levels that rows are made of.
  const book::DepthView& view() const noexcept { return view_; }
  const BookRows& rows() const noexcept { return rows_; }
  /// As newly constructed.
  void reset() noexcept;

  /// One part that holds those of the book and of the rows; equal streams give equal bytes.
  void save(ByteWriter& to) const;
  /// Errors  FormatError as BookRows and OrderBook; nothing is changed then.
  void restore(ByteReader& from);

 private:
  book::OrderBook book_;
  BookRows rows_;
  EventTally tally_{};
  book::DepthView view_{};
};

}  // namespace foxhunt::features
