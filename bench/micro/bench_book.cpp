// Order book records a second: the book alone, with a view after each event, with features, with
// decoding, and beside a book of std::map, std::list and std::unordered_map.
//
//   bench_book [FILE.mbo.dbn[.zst]] [REPEATS]
//
// Without a file: random orders around one price. The ways take turns; median and least of all.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "foxhunt/book/order_book.h"
#include "foxhunt/book/random_orders.h"
#include "foxhunt/features/book/book_features.h"
#include "foxhunt/market/reader.h"

namespace {

using foxhunt::Price;
using foxhunt::book::OrderBook;
using foxhunt::market::OrderEvent;
using foxhunt::market::Side;

/// What a textbook would write; only what right data need.
class StandardBook {
 public:
  void apply(const OrderEvent& e) {
    if (e.action == 'A') add(e);
    if (e.action == 'R') levels_[0].clear(), levels_[1].clear(), orders_.clear();
    if (e.action != 'C' && e.action != 'M') return;
    const auto found = orders_.find(e.order_id);
    if (found == orders_.end()) return;
    auto& [side, price, at] = found->second;
    const bool stays =
        e.action == 'C' ? e.size < at->size : price == e.price.nano && e.size <= at->size;
    if (stays) {
      at->size = e.action == 'C' ? at->size - e.size : e.size;
      return;
    }
    auto& queue = levels_[side][price];
    queue.erase(at);
    if (queue.empty()) levels_[side].erase(price);
    orders_.erase(found);
    if (e.action == 'M') add(e);
  }
  std::size_t orders() const { return orders_.size(); }

 private:
  struct Order {
    std::uint64_t id;
    std::uint32_t size;
  };
  struct Place {
    int side;
    std::int64_t price;
    std::list<Order>::iterator at;
  };
  void add(const OrderEvent& e) {
    const int side = e.side == Side::kBid ? 0 : 1;
    auto& queue = levels_[side][e.price.nano];
    queue.push_back({e.order_id, e.size});
    orders_[e.order_id] = {side, e.price.nano, std::prev(queue.end())};
  }
  std::map<std::int64_t, std::list<Order>> levels_[2];
  std::unordered_map<std::uint64_t, Place> orders_;
};

std::vector<OrderEvent> read_orders(const std::string& path) {
  std::vector<OrderEvent> events;
  const auto reader = foxhunt::market::open_reader(path);
  while (const auto* record = reader->next()) {
    if (const auto* order = std::get_if<OrderEvent>(record)) events.push_back(*order);
  }
  return events;
}

std::vector<OrderEvent> random_orders() {
  foxhunt::book::test::RandomOrders orders(1, 250'000'000, 10'000, 0, false);
  std::vector<OrderEvent> events(1'000'000);
  std::ranges::generate(events, [&orders] { return orders.next(); });
  return events;
}

struct Way {
  std::string name;
  std::function<std::size_t()> run;
  std::vector<double> seconds{};
};

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "";
  const int repeats = argc > 2 ? std::stoi(argv[2]) : 21;
  const std::vector<OrderEvent> events = path.empty() ? random_orders() : read_orders(path);
  OrderBook book(events.at(0).instrument);
  foxhunt::features::BookFeatures features({}, Price{250'000'000}, std::nullopt,
                                           events[0].instrument);
  foxhunt::features::BookFeatures shallow({.levels = {1, 2}}, Price{250'000'000}, std::nullopt,
                                          events[0].instrument);
  std::vector<float> row(static_cast<std::size_t>(features.width()));
  foxhunt::book::DepthView view;

  std::vector<Way> ways;
  ways.push_back({"book", [&] {
                    book.reset();
                    for (const OrderEvent& e : events) book.apply(e);
                    return book.orders();
                  }});
  ways.push_back({"book, ten levels after each event", [&] {
                    book.reset();
                    std::size_t seen = 0;
                    for (const OrderEvent& e : events) {
                      if (book.apply(e)) seen += static_cast<std::size_t>(book.view(view));
                    }
                    return seen;
                  }});
  const auto rows_of = [&events, &row](foxhunt::features::BookFeatures& maker) {
    maker.reset();
    std::size_t ready = 0;
    for (const OrderEvent& e : events) {
      const auto to = std::span(row).first(static_cast<std::size_t>(maker.width()));
      ready += static_cast<std::size_t>(maker.push(e, to).status ==
                                        foxhunt::features::BookStatus::kReady);
    }
    return ready;
  };
  ways.push_back({"book, two levels after each event", [&] {
                    book.reset();
                    std::size_t seen = 0;
                    for (const OrderEvent& e : events) {
                      if (book.apply(e)) seen += static_cast<std::size_t>(book.view(view, 2));
                    }
                    return seen;
                  }});
  ways.push_back({"book and features", [&] { return rows_of(features); }});
  ways.push_back({"book and features of two levels", [&] { return rows_of(shallow); }});
  ways.push_back({"std::map, std::list, std::unordered_map", [&] {
                    StandardBook standard;
                    for (const OrderEvent& e : events) standard.apply(e);
                    return standard.orders();
                  }});
  if (!path.empty()) {
    const auto decode = [&path, &book](bool build) {
      book.reset();
      std::size_t n = 0;
      const auto reader = foxhunt::market::open_reader(path);
      while (const auto* record = reader->next()) {
        const auto* order = std::get_if<OrderEvent>(record);
        if (order == nullptr) continue;
        ++n;
        if (build) book.apply(*order);
      }
      return n;
    };
    ways.push_back({"decode", [decode] { return decode(false); }});
    ways.push_back({"decode and book", [decode] { return decode(true); }});
  }
  std::size_t keep = 0;
  for (int i = 0; i < repeats; ++i) {
    for (Way& way : ways) {
      const auto start = std::chrono::steady_clock::now();
      keep += way.run();
      way.seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
  }
  fmt::print("{} records, {} rounds, sum {}\n{:<42}{:>16}{:>16}{:>10}\n", events.size(), repeats,
             keep, "", "M records/s", "best round", "ns each");
  for (Way& way : ways) {
    std::ranges::sort(way.seconds);
    const auto n = static_cast<double>(events.size());
    const double median = way.seconds[way.seconds.size() / 2];
    fmt::print("{:<42}{:>16.2f}{:>16.2f}{:>10.1f}\n", way.name, n / median / 1e6,
               n / way.seconds.front() / 1e6, way.seconds.front() / n * 1e9);
  }
  return 0;
}
