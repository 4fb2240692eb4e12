#include "foxhunt/book/book_set.h"

#include <algorithm>
#include <utility>

namespace foxhunt::book {
namespace {

using market::InstrumentKey;
using market::Side;

std::pair<std::uint32_t, std::uint16_t> rank_of(InstrumentKey key) {
  return {key.instrument_id, key.publisher_id};
}

void consider(const Level& level, bool better, Level& best, std::uint32_t& publishers) {
  if (level.is_empty()) return;
  if (best.is_empty() || better) {
    best = level;
    publishers = 1;
  } else if (level.price == best.price) {
    best.size += level.size;
    best.orders += level.orders;
    ++publishers;
  }
}

}  // namespace

std::size_t BookSet::locate(InstrumentKey key) const noexcept {
  const auto found = std::ranges::lower_bound(
      books_, rank_of(key), {}, [](const auto& book) { return rank_of(book->instrument()); });
  return static_cast<std::size_t>(found - books_.begin());
}

OrderBook& BookSet::apply(const market::OrderEvent& event) {
  if (last_ >= books_.size() || books_[last_]->instrument() != event.instrument) {
    last_ = locate(event.instrument);
    if (last_ == books_.size() || books_[last_]->instrument() != event.instrument) {
      books_.insert(books_.begin() + static_cast<std::ptrdiff_t>(last_),
                    std::make_unique<OrderBook>(event.instrument, orders_, prices_));
    }
  }
  books_[last_]->apply(event);
  return *books_[last_];
}

const OrderBook* BookSet::find(InstrumentKey key) const noexcept {
  const std::size_t at = locate(key);
  return at < books_.size() && books_[at]->instrument() == key ? books_[at].get() : nullptr;
}

ConsolidatedBest BookSet::best(std::uint32_t instrument_id) const noexcept {
  ConsolidatedBest out;
  for (std::size_t i = locate({.publisher_id = 0, .instrument_id = instrument_id});
       i < books_.size() && books_[i]->instrument().instrument_id == instrument_id; ++i) {
    if (!books_[i]->ready()) continue;
    ++out.ready;
    const Level bid = books_[i]->level(Side::kBid, 0);
    const Level ask = books_[i]->level(Side::kAsk, 0);
    consider(bid, bid.price > out.bid.price, out.bid, out.bid_publishers);
    consider(ask, ask.price < out.ask.price, out.ask, out.ask_publishers);
  }
  return out;
}

}  // namespace foxhunt::book
