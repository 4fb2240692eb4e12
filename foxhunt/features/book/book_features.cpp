#include "foxhunt/features/book/book_features.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "foxhunt/base/state_part.h"

namespace foxhunt::features {
namespace {

using market::OrderEvent;
using market::Side;

constexpr std::string_view kPart = "features.book";
constexpr std::uint32_t kVersion = 1;
constexpr std::int64_t kMostTally = std::int64_t{1} << 48U;  // more than any term may be

constexpr std::int64_t EventTally::*kTally[] = {
    &EventTally::bought, &EventTally::sold, &EventTally::unsided, &EventTally::trades,
    &EventTally::fills,  &EventTally::adds, &EventTally::cancels};

void add_to(std::int64_t& sum, std::int64_t more) { sum = std::min(sum + more, kMostTally); }

void take(EventTally& tally, const OrderEvent& event) {
  tally.restart |= event.action == 'R' || (event.flags & market::flag::kSnapshot) != 0;
  switch (event.action) {
    case 'A':
      add_to(tally.adds, 1);
      break;
    case 'C':
      add_to(tally.cancels, 1);
      break;
    case 'F':
      add_to(tally.fills, 1);
      break;
    case 'T':
      add_to(tally.trades, 1);
      add_to(event.side == Side::kBid   ? tally.bought
             : event.side == Side::kAsk ? tally.sold
                                        : tally.unsided,
             event.size);
      break;
    default:
      break;
  }
}

}  // namespace

BookFeatures::BookFeatures(BookFeatureConfig config, Price tick,
                           std::optional<market::Calendar> calendar,
                           market::InstrumentKey instrument, std::size_t orders, std::size_t prices)
    : book_(instrument, orders, prices), rows_(std::move(config), tick, std::move(calendar)) {}

BookPush BookFeatures::push(const OrderEvent& event, std::span<float> row) {
  book_.apply(event);
  if (event.instrument != book_.instrument()) return {};
  take(tally_, event);
  if ((event.flags & market::flag::kLast) == 0) return {};
  const EventTally whole = std::exchange(tally_, {});
  return rows_.take(book_.view(view_, rows_.levels()) ? &view_ : nullptr, whole, row);
}

void BookFeatures::reset() noexcept {
  book_.reset();
  rows_.reset();
  tally_ = {};
}

void BookFeatures::save(ByteWriter& to) const {
  ByteWriter out;
  for (const auto field : kTally) out.value(tally_.*field);
  out.value(tally_.restart);
  book_.save(out);
  rows_.save(out);
  write_part(to, kPart, kVersion, out.bytes());
}

void BookFeatures::restore(ByteReader& from) {
  ByteReader part = read_part(from, kPart, kVersion);
  EventTally tally;
  for (const auto field : kTally) {
    tally.*field = part.value<std::int64_t>();
    if (tally.*field < 0 || tally.*field > kMostTally) part.fail("a count within an event");
  }
  tally.restart = part.value<bool>();
  book::OrderBook book = book_;
  book.restore(part);
  BookRows rows = rows_;
  rows.restore(part);
  part.finish();
  book_ = std::move(book);
  rows_ = std::move(rows);
  tally_ = tally;
}

}  // namespace foxhunt::features
