// The aggressor's side against the tick test: a buyer lifts the offer, so that trades above the
// price before are mostly buys. A file that agrees in less than half of them has the sides the
// wrong way round.
//
// Source  Lee & Ready 1991 (the tick test); Wilson 1927 (the interval).
#include <fmt/format.h>

#include <cmath>

#include "foxhunt/doctor/check.h"
#include "foxhunt/doctor/text.h"

namespace foxhunt::doctor {
namespace {

/// 99.9 %, two-sided.
constexpr double kZ = 3.2905;
/// Only trades that change the price count: one an aggressor, so that they are near independent.
constexpr std::int64_t kLeastTrades = 50;

struct Interval {
  double low, high;
};

Interval wilson(std::int64_t hits, std::int64_t n) {
  const auto count = static_cast<double>(n);
  const double p = static_cast<double>(hits) / count;
  const double z2 = kZ * kZ / count;
  const double middle = (p + z2 / 2) / (1 + z2);
  const double half = kZ / (1 + z2) * std::sqrt(p * (1 - p) / count + z2 / (4 * count));
  return {middle - half, middle + half};
}

class TradeCheck final : public Check {
 public:
  using Check::Check;
  using Check::see;

  void see(const Seen& seen, const market::Trade& trade) override {
    count(seen, trade.price, trade.side);
  }
  void see(const Seen& seen, const market::TopOfBook& top) override {
    if (top.action == 'T') count(seen, top.price, top.side);
  }
  void see(const Seen& seen, const market::OrderEvent& event) override {
    if (event.action == 'T') count(seen, event.price, event.side);
  }

  void finish(const Whole& /*whole*/) override {
    if (tested_ < kLeastTrades) return;
    const Interval interval = wilson(agreed_, tested_);
    const bool inverted = interval.high < 0.5;
    findings_.add(
        inverted ? RuleId::kAggressorInverted : RuleId::kAggressorRate, first_,
        [&] {
          return fmt::format(
              "side and tick test agree in {} of {} trades that moved the price: {:.1f} % (99.9 % "
              "interval {:.1f} to {:.1f} %)",
              grouped(agreed_), grouped(tested_),
              100.0 * static_cast<double>(agreed_) / static_cast<double>(tested_),
              100 * interval.low, 100 * interval.high);
        },
        tested_);
  }

 private:
  void count(const Seen& seen, Price price, market::Side side) {
    if (price.is_null()) return;
    Price& last = last_[*seen.series];
    if (!last.is_null() && price != last && side != market::Side::kNone) {
      if (tested_++ == 0) first_ = seen;
      agreed_ += (price > last) == (side == market::Side::kBid) ? 1 : 0;
    }
    last = price;
  }

  PerSeries<Price> last_;
  std::int64_t tested_ = 0;
  std::int64_t agreed_ = 0;
  Seen first_{};
};

}  // namespace

std::unique_ptr<Check> make_trade_check(Findings& findings) {
  return std::make_unique<TradeCheck>(findings);
}

}  // namespace foxhunt::doctor
