// Clean columns: no look ahead, and the warm-up that they declare. The tricky ones lag, reset, wait
// long or live with holes.
#include <algorithm>
#include <array>
#include <cmath>

#include "foxhunt/proofs/corpus/corpus.h"
#include "foxhunt/proofs/corpus/series_tools.h"

namespace foxhunt::proofs {
namespace {

constexpr auto kNone = static_cast<double>(kNoValue);

/// `fold(i - n + 1 … i)` over the last n closes, kNoValue before there are so many.
template <class Fold>
ColumnFunction trailing(std::ptrdiff_t n, Fold fold) {
  return [n, fold](Bars b) {
    return each(b, [b, n, fold](std::ptrdiff_t i) {
      if (i + 1 < n) return kNone;
      std::vector<double> window;
      for (std::ptrdiff_t k = i + 1 - n; k <= i; ++k) window.push_back(close_at(b, k));
      return static_cast<double>(fold(window));
    });
  };
}

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}
double highest(const std::vector<double>& v) { return *std::ranges::max_element(v); }
double median(std::vector<double> v) {
  // What is no price counts as the highest.
  std::ranges::sort(v, [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
  return v[v.size() / 2];
}
double rank_of_last(const std::vector<double>& v) {
  return static_cast<double>(std::ranges::count_if(v, [&](double x) { return x < v.back(); }));
}
double z_of_last(const std::vector<double>& v) {
  const double m = mean(v);
  double squares = 0;
  for (const double x : v) squares += (x - m) * (x - m);
  return squares > 0 ? (v.back() - m) / std::sqrt(squares) : 0.0;
}
/// Exponential weights, cut off at the end of the window.
double weighted(const std::vector<double>& v) {
  double level = v.front();
  for (const double x : v) level += 0.1 * (x - level);
  return level;
}

/// A column that starts anew with every session, from its first bar on.
template <class State, class Step>
ColumnFunction per_session(State start, Step step) {
  return [start, step](Bars b) {
    State state = start;
    bool open = false;  // nothing is known of a session that began before the data
    return each(b, [&, b](std::ptrdiff_t i) {
      if (i > 0 && begins_session(b, i)) {
        state = start;
        open = true;
      }
      return open ? static_cast<double>(step(state, b[static_cast<std::size_t>(i)])) : kNone;
    });
  };
}

/// The last value of the past `limit` bars that is not missing: every bar of a volume below 100 is.
Values forward_fill(Bars b) {
  constexpr std::ptrdiff_t kLimit = 30;
  return each(b, [b](std::ptrdiff_t i) {
    for (std::ptrdiff_t k = i; k >= 0 && k > i - kLimit; --k) {
      if (b[static_cast<std::size_t>(k)].volume >= 100) return close_at(b, k);
    }
    return kNone;
  });
}

/// Mean of the ten-bar moves that had ended, over the last 200 bars.
Values past_target_mean(Bars b) {
  return each(b, [b](std::ptrdiff_t i) {
    if (i < 199) return kNone;
    double sum = 0;
    for (std::ptrdiff_t k = i - 199; k + 10 <= i; ++k) sum += log_move(b, k, k + 10);
    return sum / 190;
  });
}

/// The close of the last quarter of an hour that is over; up to 15 bars back where none lacks.
Values finished_quarter(Bars b) {
  return each(b, [b](std::ptrdiff_t i) {
    const std::int64_t now = end_minute(b[static_cast<std::size_t>(i)]);
    const std::int64_t quarter = now / 15 * 15;
    for (std::ptrdiff_t k = i; k >= 0 && k > i - 15; --k) {
      if (end_minute(b[static_cast<std::size_t>(k)]) <= quarter) return close_at(b, k);
    }
    return kNone;
  });
}

struct Vwap {
  double money = 0;
  double volume = 0;
};

}  // namespace

std::vector<PlantedColumn> clean_columns() {
  const auto column = [](const char* name, std::int64_t warm_up, ColumnFunction function) {
    return PlantedColumn{.name = name, .warm_up = warm_up, .function = std::move(function)};
  };
  const auto bar = [](Bars b, std::ptrdiff_t i) -> const market::Bar& {
    return b[static_cast<std::size_t>(i)];
  };
  return {
      column("return_1", 2,
             [](Bars b) { return each(b, [b](auto i) { return log_move(b, i - 1, i); }); }),
      column("lagged_return", 11,
             [](Bars b) { return each(b, [b](auto i) { return log_move(b, i - 10, i - 5); }); }),
      column("mean_20", 20, trailing(20, mean)),
      column("max_30", 30, trailing(30, highest)),
      column("median_21", 21, trailing(21, median)),
      column("rank_50", 50, trailing(50, rank_of_last)),
      column("z_60", 60, trailing(60, z_of_last)),
      column("truncated_ema", 100, trailing(100, weighted)),
      column("long_warm_up", 600, trailing(600, mean)),
      column("session_vwap_so_far", 1440,
             per_session(Vwap{},
                         [](Vwap& sum, const market::Bar& b) {
                           sum.money += close_of(b) * static_cast<double>(b.volume);
                           sum.volume += static_cast<double>(b.volume);
                           return sum.volume > 0 ? sum.money / sum.volume : close_of(b);
                         })),
      column("session_high_so_far", 1440,
             per_session(-1e300,
                         [](double& high, const market::Bar& b) {
                           return high = std::fmax(high, b.high.to_double());
                         })),
      column("bars_since_session_began", 1440,
             per_session(0, [](int& n, const market::Bar&) { return ++n; })),
      column("forward_fill_of_missing", 30, forward_fill),
      column("minute_of_day", 1,
             [bar](Bars b) {
               return each(b, [b, bar](auto i) { return end_minute(bar(b, i)) % 1440; });
             }),
      column("gap_to_the_bar_before", 2,
             [bar](Bars b) {
               return each(b, [b, bar](std::ptrdiff_t i) {
                 if (i == 0) return kNone;
                 return static_cast<double>(start_minute(bar(b, i)) - end_minute(bar(b, i - 1)));
               });
             }),
      column("finished_quarter_close", 15, finished_quarter),
      column("mean_of_finished_moves", 200, past_target_mean),
      column("contract_has_changed", 2,
             [bar](Bars b) {
               return each(b, [b, bar](std::ptrdiff_t i) {
                 if (i == 0) return kNone;
                 return bar(b, i).instrument == bar(b, i - 1).instrument ? 0.0 : 1.0;
               });
             }),
      column("volume_as_it_is", 1,
             [bar](Bars b) {
               return each(b, [b, bar](auto i) { return static_cast<double>(bar(b, i).volume); });
             }),
      column("constant", 1, [](Bars b) { return each(b, [](auto) { return 1.0; }); }),
  };
}

}  // namespace foxhunt::proofs
