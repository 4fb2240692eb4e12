// Quotes: crossed, locked, with an empty side, far wider than usual, standing still while others
// trade.
#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/doctor/check.h"
#include "foxhunt/doctor/running_median.h"
#include "foxhunt/doctor/text.h"
#include "foxhunt/doctor/trading_hours.h"

namespace foxhunt::doctor {
namespace {

/// One quote of a hundred: venues' own glitches are rarer by a factor of a hundred, mixed sources
/// or sides more frequent.
constexpr double kCrossedShare = 0.01;
constexpr std::int64_t kCrossedLeast = 10;
/// Of the running median; around news spreads widen tenfold.
constexpr float kWide = 50;
constexpr std::size_t kWarm = 32;
/// Trades in a row beyond an unchanged quote: one or two are in flight with the quote's update.
constexpr std::int64_t kStaleTrades = 20;

class QuoteCheck final : public Check {
 public:
  using Check::Check;
  using Check::see;

  void see(const Seen& seen, const market::TopOfBook& top) override {
    const market::BookLevel& level = top.level;
    State& state = states_[*seen.series];
    if (level.bid.is_null() || level.ask.is_null()) {
      findings_.add(RuleId::kEmptySide, seen, [&] { return text_of(level); });
      return;
    }
    const bool closed = !state.hours.open_at(*seen.series, seen.time);
    if (!closed) ++quotes_;
    if (level.bid > level.ask) {
      findings_.add(closed ? RuleId::kCrossedClosed : RuleId::kCrossed, seen,
                    [&] { return text_of(level); });
      return;
    }
    if (level.bid == level.ask) {
      findings_.add(RuleId::kLocked, seen, [&] { return text_of(level); });
    }
    check_spread(seen, state, level, closed);
    check_stale(seen, state, top);
  }

  void finish(const Whole& /*whole*/) override {
    const std::int64_t crossed = findings_.count(RuleId::kCrossed);
    if (quotes_ > 0 && crossed >= kCrossedLeast &&
        static_cast<double>(crossed) > kCrossedShare * static_cast<double>(quotes_))
      findings_.turn(RuleId::kCrossed, RuleId::kCrossedOften);
  }

 private:
  struct State {
    RunningMedian<127> spreads;
    market::BookLevel level{};
    std::int64_t beyond = 0;  ///< trades beyond the quote while it stands
    Seen beyond_at{};
    TradingHours hours;
  };

  void check_spread(const Seen& seen, State& state, const market::BookLevel& level, bool closed) {
    const auto spread = static_cast<float>(level.ask.nano - level.bid.nano);
    const float usual = state.spreads.median();
    if (!closed && state.spreads.size() >= kWarm && usual > 0 && spread > kWide * usual) {
      findings_.add(RuleId::kWideSpread, seen, [&] {
        return fmt::format("{}: {:.0f} times the median spread before", text_of(level),
                           spread / usual);
      });
    }
    state.spreads.push(spread);
  }

  void check_stale(const Seen& seen, State& state, const market::TopOfBook& top) {
    const market::BookLevel& level = top.level;
    const bool stands = level.bid == state.level.bid && level.ask == state.level.ask &&
                        level.bid_size == state.level.bid_size &&
                        level.ask_size == state.level.ask_size;
    state.level = level;
    if (!stands) state.beyond = 0;
    if (top.action != 'T' || top.price.is_null() ||
        (top.price >= level.bid && top.price <= level.ask))
      return;
    if (state.beyond++ == 0) state.beyond_at = seen;
    if (state.beyond < kStaleTrades) return;
    const bool begins = state.beyond == kStaleTrades;
    findings_.add(
        RuleId::kStaleQuote, begins ? state.beyond_at : seen,
        [&] {
          return fmt::format("{} while trades go on beyond it, {} of them in a row", text_of(level),
                             kStaleTrades);
        },
        begins ? kStaleTrades : 1);
  }

  PerSeries<State> states_;
  std::int64_t quotes_ = 0;  ///< within sessions, both sides there
};

}  // namespace

std::unique_ptr<Check> make_quote_check(Findings& findings) {
  return std::make_unique<QuoteCheck>(findings);
}

}  // namespace foxhunt::doctor
