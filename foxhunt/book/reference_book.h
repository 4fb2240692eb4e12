#pragma once
// For tests: a book that is obviously right and slow.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>

#include "foxhunt/book/order_book.h"
#include "foxhunt/book/random_orders.h"

namespace foxhunt::book::test {

/// A map of lists; an order is found by looking at all of them.
struct ReferenceBook {
  using Queue = std::list<RestingOrder>;
  std::map<std::int64_t, Queue, std::greater<>> bids;
  std::map<std::int64_t, Queue> asks;
  BookCounters damage;  ///< only what is wrong in the data

  struct Found {
    bool is_bid;
    std::int64_t price;
    Queue::iterator at;
  };
  std::optional<Found> find(std::uint64_t id) {
    const auto same = [id](const RestingOrder& order) { return order.id == id; };
    for (auto& [price, queue] : bids) {
      const auto at = std::ranges::find_if(queue, same);
      if (at != queue.end()) return Found{true, price, at};
    }
    for (auto& [price, queue] : asks) {
      const auto at = std::ranges::find_if(queue, same);
      if (at != queue.end()) return Found{false, price, at};
    }
    return std::nullopt;
  }
  void insert(bool is_bid, std::int64_t price, RestingOrder order) {
    (is_bid ? bids[price] : asks[price]).push_back(order);
  }
  void erase(const Found& found) {
    if (found.is_bid) {
      bids[found.price].erase(found.at);
      if (bids[found.price].empty()) bids.erase(found.price);
    } else {
      asks[found.price].erase(found.at);
      if (asks[found.price].empty()) asks.erase(found.price);
    }
  }
  void apply(const OrderEvent& e) {
    const bool is_bid = e.side == Side::kBid;
    const bool usable = e.side != Side::kNone && !e.price.is_null() && e.size > 0;
    auto found = find(e.order_id);
    if (e.action == 'R') bids.clear(), asks.clear();
    if (e.action == 'A') {
      if (!usable) return void(++damage.bad_value);
      if (found) ++damage.duplicate_add, erase(*found);
      insert(is_bid, e.price.nano, {e.order_id, e.size});
    }
    if (e.action == 'M') {
      if (!usable) return void(++damage.bad_value);
      if (!found) {
        ++damage.unknown_modify;
        return insert(is_bid, e.price.nano, {e.order_id, e.size});
      }
      if (found->is_bid != is_bid) ++damage.other_side;
      if (found->is_bid == is_bid && found->price == e.price.nano && e.size <= found->at->size) {
        found->at->size = e.size;
      } else {
        erase(*found);
        insert(is_bid, e.price.nano, {e.order_id, e.size});
      }
    }
    if (e.action == 'C') {
      if (!found) return void(++damage.unknown_cancel);
      if (found->is_bid != is_bid) ++damage.other_side;
      if (found->price != e.price.nano) ++damage.other_price;
      if (e.size == 0) return void(++damage.bad_value);
      if (e.size > found->at->size) ++damage.over_cancel;
      if (e.size >= found->at->size) {
        erase(*found);
      } else {
        found->at->size -= e.size;
      }
    }
  }
};

}  // namespace foxhunt::book::test
