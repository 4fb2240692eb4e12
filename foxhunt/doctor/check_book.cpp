// Order books of market-by-order feeds: rebuilt, then looked at after every event.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <utility>

#include "foxhunt/book/order_book.h"
#include "foxhunt/doctor/check.h"
#include "foxhunt/doctor/text.h"
#include "foxhunt/doctor/trading_hours.h"

namespace foxhunt::doctor {
namespace {

/// As for quotes (check_quotes.cpp).
constexpr double kCrossedShare = 0.01;
constexpr std::int64_t kCrossedLeast = 10;
/// Room of a new book; it grows where an instrument needs more.
constexpr std::size_t kOrders = 1U << 12U;
constexpr std::size_t kPrices = 1U << 8U;

class BookCheck final : public Check {
 public:
  using Check::Check;
  using Check::see;

  void see(const Seen& seen, const market::OrderEvent& event) override {
    const std::uint64_t key =
        std::uint64_t{event.instrument.publisher_id} << 32 | event.instrument.instrument_id;
    std::unique_ptr<State>& state = books_[key];
    if (state == nullptr) state = std::make_unique<State>(event.instrument);
    book::OrderBook& book = state->book;
    const std::int64_t unknown = unknown_orders(book);
    const bool ends = book.apply(event);
    // Before its beginning is known, a book cannot know its orders.
    if (book.started() && unknown_orders(book) > unknown) {
      findings_.add(RuleId::kUnknownOrder, seen, [&] {
        return fmt::format("action {} of order {}, which is not in the book", event.action,
                           event.order_id);
      });
    }
    if (ends && book.ready() && (event.flags & market::flag::kSnapshot) == 0) look(seen, *state);
  }

  void finish(const Whole& /*whole*/) override {
    const std::int64_t crossed = findings_.count(RuleId::kCrossed);
    if (events_ > 0 && crossed >= kCrossedLeast &&
        static_cast<double>(crossed) > kCrossedShare * static_cast<double>(events_))
      findings_.turn(RuleId::kCrossed, RuleId::kCrossedOften);
  }

 private:
  struct State {
    explicit State(market::InstrumentKey key) : book(key, kOrders, kPrices) {}
    book::OrderBook book;
    TradingHours hours;
  };

  static std::int64_t unknown_orders(const book::OrderBook& book) {
    return book.counters().unknown_cancel + book.counters().unknown_modify;
  }

  void look(const Seen& seen, State& state) {
    const book::Level bid = state.book.level(market::Side::kBid, 0);
    const book::Level ask = state.book.level(market::Side::kAsk, 0);
    const auto text = [&] {
      return fmt::format("bid {} x {} ask {} x {}", text_of(bid.price), bid.size,
                         text_of(ask.price), ask.size);
    };
    if (bid.price.is_null() || ask.price.is_null()) {
      findings_.add(RuleId::kEmptySide, seen, text);
      return;
    }
    const bool open = state.hours.open_at(*seen.series, seen.time);
    if (open) ++events_;
    if (bid.price > ask.price) {
      findings_.add(open ? RuleId::kCrossed : RuleId::kCrossedClosed, seen, text);
    } else if (bid.price == ask.price) {
      findings_.add(RuleId::kLocked, seen, text);
    }
  }

  std::map<std::uint64_t, std::unique_ptr<State>> books_;
  std::int64_t events_ = 0;  ///< within sessions, both sides there
};

}  // namespace

std::unique_ptr<Check> make_book_check(Findings& findings) {
  return std::make_unique<BookCheck>(findings);
}

}  // namespace foxhunt::doctor
