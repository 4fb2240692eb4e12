// The way of a price: outliers by robust distance, spikes, jumps by powers of ten, splits, rolls.
//
// A price that is 1.4 times another level or more opens an excursion. If it comes back within
// kExcursion records, those records were off (by a power of ten, or a spike); if it stays, the
// level has changed once (a scale, a split, a crash).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "foxhunt/doctor/check.h"
#include "foxhunt/doctor/price_ranges.h"
#include "foxhunt/doctor/running_median.h"
#include "foxhunt/doctor/text.h"

namespace foxhunt::doctor {
namespace {

using market::Bar;

/// Distances are in running medians of absolute returns, made comparable with a standard deviation.
constexpr double kMadToSigma = 1.4826;
/// One basis point: below, a quiet night's median of zero would make every tick an outlier.
constexpr double kLeastScale = 1e-4;
/// Farther than news moves a bar: the largest distance in the reference data of CME is below it.
constexpr double kOutlierDistance = 30;
/// No market of the tables moved by 40 % between two neighbouring records; splits begin at 3:2.
const double kExcursionReturn = std::log(1.4);
/// Beyond what the market itself does over a break of an hour; most rolls are smaller and pass.
constexpr double kRollDistance = 8;
constexpr double kRollBars = 60;
constexpr int kExcursion = 8;
/// A bar's wick beyond this is no trade that anybody could repeat: half of the price or twice it.
const double kWick = std::log(2.0);
constexpr std::size_t kWarm = 32;
constexpr double kMaxGapBars = 390;
/// In log10: 10 and 11.7 are one power of ten, 8.3 too.
constexpr double kPowerTolerance = 0.08;

/// 2 for a factor near 100, -1 near 0.1, 0 for none.
int power_of_ten(double log_ratio) {
  const double powers = log_ratio / std::log(10.0);
  const double nearest = std::round(powers);
  return std::abs(nearest) >= 1 && std::abs(powers - nearest) < kPowerTolerance
             ? static_cast<int>(nearest)
             : 0;
}

/// "2:1" for a fall to a half, "1:2" for the reverse; "" for no ratio that companies use. Within
/// 5 %, which a day's own move adds.
std::string split_ratio(double log_ratio) {
  constexpr std::array<std::array<int, 2>, 9> kRatios{
      {{3, 2}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {7, 1}, {8, 1}, {10, 1}, {20, 1}}};
  for (const auto& [many, few] : kRatios) {
    const double size = std::log(static_cast<double>(many) / few);
    if (std::abs(std::abs(log_ratio) - size) < 0.05)
      return log_ratio < 0 ? fmt::format("{}:{}", many, few) : fmt::format("{}:{}", few, many);
  }
  return "";
}

/// Third Friday of a quarterly month less 10 days, to 3 days behind it: when equity index futures
/// are rolled.
bool in_roll_window(UnixNanos t) {
  const Date date = utc_date(t);
  if (static_cast<unsigned>(date.month()) % 3 != 0) return false;
  const std::chrono::sys_days friday{date.year() / date.month() / std::chrono::Friday[3]};
  const auto day = std::chrono::sys_days{date};
  return day >= friday - std::chrono::days{10} && day <= friday + std::chrono::days{3};
}

class PriceCheck final : public Check {
 public:
  using Check::Check;
  using Check::see;

  void see(const Seen& seen, const Bar& bar) override {
    if (is_free(*seen.series)) return;
    for (const Price p : {bar.open, bar.high, bar.low, bar.close}) {
      if (p.is_null() || p.nano <= 0) return;
    }
    State& state = states_[*seen.series];
    const double close = std::log(bar.close.to_double());
    check_range(seen, bar.close);
    note_roll(seen, state, bar);
    check_wicks(seen, state, bar);
    double spans = 1;
    if (!is_null(state.end) && bar.start > state.end)
      spans += std::min(static_cast<double>((bar.start - state.end) / bar.span), kMaxGapBars);
    step(seen, state, close, spans, [&] { return text_of(bar); });
    state.end = bar.start + bar.span;
  }

  void see(const Seen& seen, const market::Trade& trade) override { see_trade(seen, trade.price); }
  void see(const Seen& seen, const market::TopOfBook& top) override {
    if (top.action == 'T') see_trade(seen, top.price);
  }
  void see(const Seen& seen, const market::OrderEvent& event) override {
    if (event.action == 'T') see_trade(seen, event.price);
  }

  void finish(const Whole& whole) override {
    for (const auto& series : whole.series.all()) {
      if (State* state = states_.find(*series)) end_excursion(*state, true);
    }
  }

 private:
  /// Spreads and options have no way of their own that a rule could follow.
  static bool is_free(const Series& series) { return series.is_spread || series.is_option; }

  struct State {
    RunningMedian<127> moves;
    std::optional<double> level;  ///< log of the last price that was believed
    UnixNanos end = kNullTime;
    market::InstrumentKey instrument{};
    Price close{};
    // An excursion: what its first record was, and how many there were.
    int away = 0;
    double away_level = 0;
    double away_return = 0;
    Seen away_at{};
    std::string away_text{};
  };

  void see_trade(const Seen& seen, Price price) {
    if (is_free(*seen.series) || price.is_null() || price.nano <= 0) return;
    check_range(seen, price);
    step(seen, states_[*seen.series], std::log(price.to_double()), 1,
         [&] { return fmt::format("price {}", text_of(price)); });
  }

  double scale_of(const Seen& seen, const State& state, double level) const {
    const Price tick = seen.series->tick;
    const double one_tick = tick.is_null() ? 0.0 : tick.to_double() / std::exp(level);
    return std::max(
        {kMadToSigma * static_cast<double>(state.moves.median()), kLeastScale, one_tick});
  }

  void check_range(const Seen& seen, Price price) {
    const auto range = std::ranges::find(kPriceRanges, seen.series->product, &PriceRange::product);
    if (range == kPriceRanges.end()) return;
    const double value = price.to_double();
    if (value >= range->low && value <= range->high) return;
    findings_.add(RuleId::kWrongScale, seen, [&] {
      return fmt::format("{} trades between {} and {}, not at {}", range->product, range->low,
                         range->high, text_of(price));
    });
  }

  void note_roll(const Seen& seen, State& state, const Bar& bar) {
    if (!state.close.is_null() && !(bar.instrument == state.instrument)) {
      findings_.add(RuleId::kRoll, seen, [&] {
        return fmt::format("from instrument {} at {} to {} at {}", state.instrument.instrument_id,
                           text_of(state.close), bar.instrument.instrument_id, text_of(bar.open));
      });
    }
    state.instrument = bar.instrument;
    state.close = bar.close;
  }

  /// High and low against the bar's own open and close.
  void check_wicks(const Seen& seen, State& state, const Bar& bar) {
    const double open = std::log(bar.open.to_double());
    const double close = std::log(bar.close.to_double());
    const double up = std::log(bar.high.to_double()) - std::max(open, close);
    const double down = std::min(open, close) - std::log(bar.low.to_double());
    const double wick = std::max(up, down);
    const double distance = wick / scale_of(seen, state, close);
    if (wick > kWick) {
      findings_.add(RuleId::kSpike, seen, [&] {
        return fmt::format("{}: {} is {:.3g} times the rest of the bar", text_of(bar),
                           up > down ? "the high" : "the low", std::exp(up > down ? up : -down));
      });
    } else if (state.moves.size() >= kWarm && distance > kOutlierDistance) {
      findings_.add(RuleId::kOutlier, seen, [&] {
        return fmt::format("{}: a wick of {:.0f} robust deviations", text_of(bar), distance);
      });
    }
  }

  template <class Text>
  void step(const Seen& seen, State& state, double level, double spans, Text text) {
    if (!state.level) {
      state.level = level;
      return;
    }
    const double move = level - *state.level;
    if (std::abs(move) > kExcursionReturn) {
      // Long absent, a market may be anywhere, but not at a power of ten or a company's ratio.
      const bool explained =
          spans >= kMaxGapBars && power_of_ten(move) == 0 && split_ratio(move).empty();
      if (explained) {
        state.level = level;
        return;
      }
      if (state.away > 0 && std::abs(level - state.away_level) > kExcursionReturn) {
        end_excursion(state, false);  // another one begins
      }
      if (state.away++ == 0) {
        state.away_at = seen;
        state.away_level = level;
        state.away_return = move;
        state.away_text = text();
      }
      if (state.away >= kExcursion) {
        state.level = level;
        end_excursion(state, true);
      }
      return;
    }
    end_excursion(state, false);
    judge(seen, state, move, spans, level, text);
    if (spans <= 1) state.moves.push(static_cast<float>(std::abs(move)));
    state.level = level;
  }

  template <class Text>
  void judge(const Seen& seen, const State& state, double move, double spans, double level,
             Text text) {
    if (state.moves.size() < kWarm) return;
    const double scale = scale_of(seen, state, level);
    const double distance = std::abs(move) / (scale * std::sqrt(spans));
    const double over_break = std::abs(move) / (scale * std::sqrt(std::min(spans, kRollBars)));
    const bool is_roll = spans > 1 && over_break > kRollDistance && is_stitched(*seen.series) &&
                         in_roll_window(seen.time);
    if (!is_roll && distance <= kOutlierDistance) return;
    findings_.add(is_roll ? RuleId::kUnmarkedRoll : RuleId::kOutlier, seen, [&] {
      return fmt::format("{} after {:.6g}: {:.0f} robust deviations", text(),
                         std::exp(*state.level), is_roll ? over_break : distance);
    });
  }

  /// A futures series that does not name its contract may change it.
  static bool is_stitched(const Series& series) {
    return !series.product.empty() &&
           (series.symbol.starts_with('#') || series.symbol.find('.') != std::string::npos ||
            series.symbol == series.product);
  }

  /// `stays`: at the new level.
  void end_excursion(State& state, bool stays) {
    if (state.away == 0) return;
    const int power = power_of_ten(state.away_return);
    const std::string ratio = split_ratio(state.away_return);
    const bool is_future = !state.away_at.series->product.empty();
    const std::int64_t records = stays ? 1 : state.away;
    const auto text = [&](const std::string& what) {
      return fmt::format("{}: {:.4g} times the level before, {}", state.away_text,
                         std::exp(state.away_return), what);
    };
    if (stays && !is_future && !ratio.empty()) {
      findings_.add(RuleId::kSplit, state.away_at, [&] { return text("as by a split " + ratio); });
    } else if (power != 0) {
      findings_.add(
          RuleId::kScaleJump, state.away_at,
          [&] {
            return text(
                fmt::format("near 10^{}, {}", power,
                            stays ? "from here on" : fmt::format("for {} records", state.away)));
          },
          records);
    } else if (!stays) {
      findings_.add(
          RuleId::kSpike, state.away_at,
          [&] { return text(fmt::format("back after {} records", state.away)); }, records);
    } else {
      findings_.add(RuleId::kOutlier, state.away_at, [&] { return text("and it stays there"); });
    }
    state.away = 0;
    state.away_text.clear();
  }

  PerSeries<State> states_;
};

}  // namespace

std::unique_ptr<Check> make_price_check(Findings& findings) {
  return std::make_unique<PriceCheck>(findings);
}

}  // namespace foxhunt::doctor
