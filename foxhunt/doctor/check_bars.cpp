// A bar by itself: prices that lack, that stand for "none", that are not positive, OHLC in the
// wrong order, off the tick grid, another length.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "foxhunt/doctor/check.h"
#include "foxhunt/doctor/text.h"

namespace foxhunt::doctor {
namespace {

using market::Bar;

bool is_bad_ohlc(const Bar& bar) {
  const auto [low, high] =
      std::minmax({bar.open.nano, bar.high.nano, bar.low.nano, bar.close.nano});
  return bar.low.nano != low || bar.high.nano != high;
}

/// What other systems write for "no price": DBN's undefined price as a decimal number, and the
/// fillers of spreadsheets and old feeds.
bool is_sentinel(Price price) {
  constexpr std::int64_t kOne = Price::kUnitsPerOne;
  constexpr std::int64_t kUndefined = 9'223'372'036;  // whole part of 2^63 - 1 in 1e-9 units
  if (price.nano / kOne >= kUndefined - 1 || price.nano / kOne <= -(kUndefined - 1)) return true;
  return price.nano == -1 * kOne || price.nano == -99 * kOne || price.nano == -999 * kOne ||
         price.nano == -9999 * kOne || price.nano == 999'999 * kOne ||
         price.nano == 9'999'999 * kOne || price.nano == 99'999'999 * kOne;
}

/// Undefined sizes of 32 and 64 bits that came through as numbers.
bool is_sentinel(std::uint64_t volume) {
  return volume == std::numeric_limits<std::uint64_t>::max() ||
         volume == std::numeric_limits<std::uint32_t>::max() ||
         volume == static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
         volume == static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
}

class BarCheck final : public Check {
 public:
  using Check::Check;
  using Check::see;

  void see(const Seen& seen, const Bar& bar) override {
    ++spans_[bar.span.count()];
    const std::array prices{bar.open, bar.high, bar.low, bar.close};
    if (std::ranges::any_of(prices, [](Price p) { return p.is_null(); })) {
      findings_.add(RuleId::kNoPrice, seen, [&] { return text_of(bar); });
      return;
    }
    if (std::ranges::any_of(prices, [](Price p) { return is_sentinel(p); }) ||
        is_sentinel(bar.volume)) {
      findings_.add(RuleId::kSentinel, seen, [&] { return text_of(bar); });
      return;
    }
    // Spreads trade below zero, and what a symbol without a name is nobody knows.
    if (!seen.series->is_spread &&
        std::ranges::any_of(prices, [](Price p) { return p.nano <= 0; })) {
      findings_.add(RuleId::kNotPositive, seen, [&] { return text_of(bar); });
      return;
    }
    if (is_bad_ohlc(bar)) findings_.add(RuleId::kOhlc, seen, [&] { return text_of(bar); });
    check_tick(seen, prices, [&] { return text_of(bar); });
  }

  void see(const Seen& seen, const market::Trade& trade) override {
    if (trade.price.is_null()) {
      findings_.add(RuleId::kNoPrice, seen,
                    [&] { return fmt::format("a trade of {} without a price", trade.size); });
      return;
    }
    check_price(seen, trade.price, trade.size);
  }

  void see(const Seen& seen, const market::OrderEvent& event) override {
    if (event.price.is_null()) {
      if (event.action == 'A' || event.action == 'T') {
        findings_.add(RuleId::kNoPrice, seen, [&] {
          return fmt::format("action {} of {} without a price", event.action, event.size);
        });
      }
      return;
    }
    check_price(seen, event.price, event.size);
  }

  void see(const Seen& seen, const market::TopOfBook& top) override {
    for (const Price price : {top.level.bid, top.level.ask}) {
      if (!price.is_null()) check_price(seen, price, 1);
    }
  }

  void finish(const Whole& /*whole*/) override {
    if (spans_.size() < 2) return;
    const auto most =
        std::ranges::max_element(spans_, {}, [](const auto& entry) { return entry.second; });
    std::int64_t others = 0;
    std::string text;
    for (const auto& [span, n] : spans_) {
      if (span != most->first) others += n;
      text +=
          fmt::format("{}{} of {} s", text.empty() ? "" : ", ", grouped(n), span / 1'000'000'000);
    }
    findings_.add_whole(RuleId::kMixedLengths, others, text);
  }

 private:
  void check_price(const Seen& seen, Price price, std::uint32_t size) {
    const auto text = [&] { return fmt::format("price {} size {}", text_of(price), size); };
    if (is_sentinel(price) || is_sentinel(std::uint64_t{size})) {
      findings_.add(RuleId::kSentinel, seen, text);
    } else if (price.nano <= 0 && !seen.series->product.empty() && !seen.series->is_spread) {
      findings_.add(RuleId::kNotPositive, seen, text);
    } else {
      check_tick(seen, std::array{price}, text);
    }
  }

  template <class Prices, class Text>
  void check_tick(const Seen& seen, const Prices& prices, Text text) {
    const Price tick = seen.series->tick;
    if (tick.is_null()) return;
    if (std::ranges::any_of(prices, [&](Price p) { return p.nano % tick.nano != 0; })) {
      findings_.add(RuleId::kOffTick, seen,
                    [&] { return fmt::format("{}; the tick is {}", text(), text_of(tick)); });
    }
  }

  std::map<std::int64_t, std::int64_t> spans_;  ///< bars by length in ns
};

}  // namespace

std::unique_ptr<Check> make_bar_check(Findings& findings) {
  return std::make_unique<BarCheck>(findings);
}

}  // namespace foxhunt::doctor
