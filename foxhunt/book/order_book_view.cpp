// What may be asked of an OrderBook.
#include <algorithm>

#include "foxhunt/book/order_book.h"

namespace foxhunt::book {

using market::Side;

Level OrderBook::level(Side side, std::size_t rank) const noexcept {
  const Ladder& prices = ladder(side == Side::kBid);
  if (rank >= prices.size()) return {};
  const Queue& queue = queues_[prices.value(rank)];
  return {.price = queue.price, .size = queue.size, .orders = queue.orders};
}

std::size_t OrderBook::levels(Side side) const noexcept {
  return ladder(side == Side::kBid).size();
}

bool OrderBook::view(DepthView& out, std::size_t levels) const noexcept {
  if (!ready()) return false;
  out.instrument = instrument_;
  out.ts_event = ts_event_;
  out.ts_recv = ts_recv_;
  out.sequence = sequence_;
  out.quality = quality_;
  for (std::size_t rank = 0; rank < std::min(levels, DepthView::kLevels); ++rank) {
    out.bids[rank] = level(Side::kBid, rank);
    out.asks[rank] = level(Side::kAsk, rank);
  }
  return true;
}

std::optional<QueuePosition> OrderBook::position(std::uint64_t id) const noexcept {
  const std::uint32_t at = index_.find(id);
  if (at == kNone) return std::nullopt;
  const Queue& queue = queues_[orders_[at].level];
  QueuePosition found{.side = queue.is_bid ? Side::kBid : Side::kAsk,
                      .price = queue.price,
                      .size = orders_[at].size};
  for (std::uint32_t i = orders_[at].ahead; i != kNone; i = orders_[i].ahead) {
    found.size_ahead += orders_[i].size;
    ++found.orders_ahead;
  }
  return found;
}

std::vector<RestingOrder> OrderBook::queue(Side side, std::size_t rank) const {
  std::vector<RestingOrder> out;
  const Ladder& prices = ladder(side == Side::kBid);
  if (rank >= prices.size()) return out;
  for (std::uint32_t i = queues_[prices.value(rank)].first; i != kNone; i = orders_[i].behind) {
    out.push_back({.id = orders_[i].id, .size = orders_[i].size});
  }
  return out;
}

}  // namespace foxhunt::book
