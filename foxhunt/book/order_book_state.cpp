// What an OrderBook remembers, as bytes: every queue from its best price down, first come first.
// Where orders lie in the pool is not written: no answer depends on it.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "foxhunt/base/state_part.h"
#include "foxhunt/book/order_book.h"

namespace foxhunt::book {
namespace {

using market::Side;

constexpr std::string_view kPart = "book.orders";
constexpr std::uint32_t kVersion = 1;
constexpr std::int64_t kMostRecords = std::int64_t{1} << 56U;

}  // namespace

void OrderBook::save(ByteWriter& to) const {
  ByteWriter out;
  out.value(instrument_.publisher_id);
  out.value(instrument_.instrument_id);
  for (const bool flag :
       {started_, in_snapshot_, at_end_, quality_.maybe_bad_book, quality_.bad_ts_recv}) {
    out.value(flag);
  }
  out.value(count(ts_event_));
  out.value(count(ts_recv_));
  out.value(sequence_);
  for (const NamedCounter& counter : kBookCounters) out.value(counters_.*counter.field);
  for (const Side side : {Side::kBid, Side::kAsk}) {
    out.value(static_cast<std::uint64_t>(levels(side)));
    for (std::size_t rank = 0; rank < levels(side); ++rank) {
      out.value(level(side, rank).price.nano);
      const auto orders = queue(side, rank);
      out.value(static_cast<std::uint64_t>(orders.size()));
      for (const RestingOrder& order : orders) {
        out.value(order.id);
        out.value(order.size);
      }
    }
  }
  write_part(to, kPart, kVersion, out.bytes());
}

void OrderBook::restore(ByteReader& from) {
  ByteReader part = read_part(from, kPart, kVersion);
  market::InstrumentKey key;
  key.publisher_id = part.value<std::uint16_t>();
  key.instrument_id = part.value<std::uint32_t>();
  if (key != instrument_) {
    part.fail(fmt::format("the book of instrument {} of publisher {}, expected {} of {}",
                          key.instrument_id, key.publisher_id, instrument_.instrument_id,
                          instrument_.publisher_id));
  }
  OrderBook book(instrument_, orders_.capacity(), queues_.capacity() / 2);
  for (bool* flag : {&book.started_, &book.in_snapshot_, &book.at_end_,
                     &book.quality_.maybe_bad_book, &book.quality_.bad_ts_recv}) {
    *flag = part.value<bool>();
  }
  book.ts_event_ = from_nanos(part.value<std::int64_t>());
  book.ts_recv_ = from_nanos(part.value<std::int64_t>());
  book.sequence_ = part.value<std::uint32_t>();
  for (const NamedCounter& counter : kBookCounters) {
    const auto value = part.value<std::int64_t>();
    if (value < 0 || value > kMostRecords) {
      part.fail(fmt::format("{} {}", value, counter.name));
    }
    book.counters_.*counter.field = value;
  }
  const BookCounters counted = book.counters_;
  for (const Side side : {Side::kBid, Side::kAsk}) {
    const std::size_t levels = part.count(2 * sizeof(std::uint64_t));
    Price before{};
    for (std::size_t rank = 0; rank < levels; ++rank) {
      const Price price{part.value<std::int64_t>()};
      const bool worse = side == Side::kBid ? price < before : price > before;
      if (rank > 0 && !worse) part.fail("prices that are not in order");
      before = price;
      const std::size_t orders = part.count(2 * sizeof(std::uint64_t));
      if (orders == 0) part.fail("a price without orders");
      for (std::size_t i = 0; i < orders; ++i) {
        const auto id = part.value<std::uint64_t>();
        const auto size = part.value<std::int64_t>();
        if (book.index_.find(id) != kNone) part.fail(fmt::format("order {} twice", id));
        if (!book.is_usable(side, price, size)) {
          part.fail(fmt::format("an order of {} at {}", size, price.nano));
        }
        book.place(id, side, price, size);
      }
    }
  }
  part.finish();
  book.counters_ = counted;
  *this = std::move(book);
}

}  // namespace foxhunt::book
