// Planted leaks: each looks ahead in a way that real code has done.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "foxhunt/proofs/corpus/corpus.h"
#include "foxhunt/proofs/corpus/series_tools.h"

namespace foxhunt::proofs {
namespace {

/// Mean and deviation of a whole series, the values that are none left out.
std::pair<double, double> moments(const Values& values) {
  double n = 0;
  double sum = 0;
  double squares = 0;
  for (const float v : values) {
    if (!std::isfinite(v)) continue;
    n += 1;
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const double mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean)};
}

Values returns(Bars bars) {
  return each(bars, [bars](auto i) { return log_move(bars, i - 1, i); });
}

Values whole_series_z(Bars bars) {
  Values values = returns(bars);
  const auto [mean, deviation] = moments(values);
  for (float& v : values) v = static_cast<float>((v - mean) / deviation);
  return values;
}

Values whole_series_range(Bars bars) {
  double low = 1e300;
  double high = -1e300;
  for (const market::Bar& bar : bars) {
    low = std::fmin(low, close_of(bar));
    high = std::fmax(high, close_of(bar));
  }
  return each(bars, [&](auto i) { return (close_at(bars, i) - low) / (high - low); });
}

/// The close of each full ten minutes, filled backward.
Values backward_fill(Bars bars) {
  Values out(bars.size(), kNoValue);
  float next = kNoValue;
  for (std::size_t i = bars.size(); i-- > 0;) {
    if (end_minute(bars[i]) % 10 == 0) next = static_cast<float>(close_of(bars[i]));
    out[i] = next;
  }
  return out;
}

/// Something of each group of bars, given to all of the group's bars.
template <class Key, class Fold>
Values of_whole_group(Bars bars, Key key, Fold fold) {
  std::map<std::int64_t, double> groups;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto [group, is_new] = groups.try_emplace(key(i), fold(0.0, bars[i], true));
    if (!is_new) group->second = fold(group->second, bars[i], false);
  }
  return each(bars, [&](auto i) { return groups.at(key(static_cast<std::size_t>(i))); });
}

std::vector<std::int64_t> session_numbers(Bars bars) {
  std::vector<std::int64_t> numbers(bars.size(), 0);
  for (std::size_t i = 1; i < bars.size(); ++i)
    numbers[i] = numbers[i - 1] + (begins_session(bars, static_cast<std::ptrdiff_t>(i)) ? 1 : 0);
  return numbers;
}

template <class Fold>
Values of_whole_session(Bars bars, Fold fold) {
  const std::vector<std::int64_t> numbers = session_numbers(bars);
  return of_whole_group(
      bars, [&](std::size_t i) { return numbers[i]; }, fold);
}

double volume_of(const market::Bar& bar) { return static_cast<double>(bar.volume); }

/// Mean of the next return by the minute of the hour, over all of the data.
Values target_encoding(Bars bars) {
  std::array<double, 60> sums{};
  std::array<double, 60> counts{};
  const auto minute = [&](std::ptrdiff_t i) {
    return static_cast<std::size_t>(end_minute(bars[static_cast<std::size_t>(i)]) % 60);
  };
  for (std::ptrdiff_t i = 0; i + 1 < std::ssize(bars); ++i) {
    const double r = log_move(bars, i, i + 1);
    if (!std::isfinite(r)) continue;
    sums[minute(i)] += r;
    counts[minute(i)] += 1;
  }
  return each(bars, [&](auto i) { return sums[minute(i)] / counts[minute(i)]; });
}

/// Where the close stands among all closes.
Values global_rank(Bars bars) {
  std::vector<double> sorted;
  for (const market::Bar& bar : bars) {
    if (std::isfinite(close_of(bar))) sorted.push_back(close_of(bar));
  }
  std::ranges::sort(sorted);
  return each(bars, [&](auto i) {
    const auto at = std::ranges::lower_bound(sorted, close_at(bars, i));
    return static_cast<double>(at - sorted.begin()) / static_cast<double>(sorted.size());
  });
}

/// Close less the straight line through all closes.
Values detrended(Bars bars) {
  const double n = static_cast<double>(bars.size());
  const double middle = (n - 1) / 2;
  double mean = 0;
  double slope = 0;
  double spread = 0;
  for (std::ptrdiff_t i = 0; i < std::ssize(bars); ++i) {
    const double x = static_cast<double>(i) - middle;
    const double y = std::isfinite(close_at(bars, i)) ? close_at(bars, i) : 0.0;
    mean += y / n;
    slope += x * y;
    spread += x * x;
  }
  return each(bars, [&](auto i) {
    return close_at(bars, i) - mean - slope / spread * (static_cast<double>(i) - middle);
  });
}

/// Smoothed forward, then backward: no lag, since it sees both sides.
Values two_sided_smoothing(Bars bars) {
  Values out = each(bars, [&](auto i) { return close_at(bars, i); });
  const auto smooth = [](auto begin, auto end) {
    float level = *begin;
    for (auto at = begin; at != end; ++at) {
      if (std::isfinite(*at)) level += 0.1F * (*at - level);
      *at = level;
    }
  };
  smooth(out.begin(), out.end());
  smooth(out.rbegin(), out.rend());
  return out;
}

/// A straight line between the closes of full half-hours.
Values interpolated(Bars bars) {
  std::vector<std::ptrdiff_t> anchors;
  for (std::ptrdiff_t i = 0; i < std::ssize(bars); ++i) {
    if (end_minute(bars[static_cast<std::size_t>(i)]) % 30 == 0) anchors.push_back(i);
  }
  return each(bars, [&](std::ptrdiff_t i) {
    const auto right = std::ranges::lower_bound(anchors, i);
    if (right == anchors.begin() || right == anchors.end()) return static_cast<double>(kNoValue);
    const std::ptrdiff_t a = *(right - 1);
    const double part = static_cast<double>(i - a) / static_cast<double>(*right - a);
    return (1 - part) * close_at(bars, a) + part * close_at(bars, *right);
  });
}

/// Which of ten equally filled bins of the whole data the volume falls into.
Values global_bins(Bars bars) {
  std::vector<double> sorted;
  for (const market::Bar& bar : bars) sorted.push_back(volume_of(bar));
  std::ranges::sort(sorted);
  return each(bars, [&](auto i) {
    const auto at = std::ranges::lower_bound(sorted, volume_of(bars[static_cast<std::size_t>(i)]));
    return std::floor(10.0 * static_cast<double>(at - sorted.begin()) /
                      static_cast<double>(sorted.size()));
  });
}

/// Bars until the contract is rolled; data that end count as a roll.
Values bars_to_roll(Bars bars) {
  Values out(bars.size(), 0.0F);
  for (std::size_t i = bars.size(); i-- > 1;)
    out[i - 1] = bars[i].instrument == bars[i - 1].instrument ? out[i] + 1 : 0.0F;
  return out;
}

bool last_of_session(Bars bars, std::ptrdiff_t i) {
  return i + 1 < std::ssize(bars) && begins_session(bars, i + 1);
}

std::pair<double, double> sums_of_session(Bars bars, std::ptrdiff_t i) {
  std::ptrdiff_t from = i;
  while (!begins_session(bars, from)) --from;
  double money = 0;
  double volume = 0;
  for (std::ptrdiff_t k = from; k < std::ssize(bars) && (k == from || !begins_session(bars, k));
       ++k) {
    const market::Bar& bar = bars[static_cast<std::size_t>(k)];
    money += close_of(bar) * volume_of(bar);
    volume += volume_of(bar);
  }
  return {money, volume};
}

Values whole_session_vwap(Bars bars) {
  double vwap = 0;
  return each(bars, [&](auto i) {
    if (begins_session(bars, i)) {
      const auto [money, volume] = sums_of_session(bars, i);
      vwap = money / volume;
    }
    return vwap;
  });
}

}  // namespace

std::vector<PlantedColumn> planted_leaks() {
  const auto column = [](const char* name, std::int64_t warm_up, ColumnFunction function) {
    return PlantedColumn{.name = name, .warm_up = warm_up, .function = std::move(function)};
  };
  const auto at = [](Bars b, std::ptrdiff_t i) -> const market::Bar& {
    return b[static_cast<std::size_t>(i)];
  };
  return {
      column("centred_mean", 11,
             [](Bars b) { return each(b, [b](auto i) { return mean_close(b, i - 5, i + 5); }); }),
      column("whole_series_z", 2, whole_series_z),
      column("whole_series_min_max", 1, whole_series_range),
      column("label_shifted_by_one", 1,
             [](Bars b) { return each(b, [b](auto i) { return log_move(b, i, i + 1); }); }),
      column("backward_fill", 10, backward_fill),
      column("future_max", 1,
             [](Bars b) {
               return each(b, [b](auto i) {
                 double most = close_at(b, i);
                 for (int k = 1; k <= 10; ++k) most = std::fmax(most, close_at(b, i + k));
                 return most;
               });
             }),
      column("resampled_stamped_at_start", 15,
             [](Bars b) {
               const auto quarter = [b](std::size_t i) { return start_minute(b[i]) / 15; };
               return of_whole_group(
                   b, quarter, [](double, const market::Bar& bar, bool) { return close_of(bar); });
             }),
      column("session_high_from_its_open", 1440,
             [](Bars b) {
               return of_whole_session(b, [](double high, const market::Bar& bar, bool first) {
                 return first ? bar.high.to_double() : std::fmax(high, bar.high.to_double());
               });
             }),
      column("target_encoding", 1, target_encoding),
      column("window_one_too_far", 11,
             [](Bars b) { return each(b, [b](auto i) { return mean_close(b, i - 9, i + 1); }); }),
      column("global_rank", 1, global_rank),
      column("detrended_over_all", 1, detrended),
      column("two_sided_smoothing", 200, two_sided_smoothing),
      column("interpolated_to_the_next_anchor", 30, interpolated),
      column("global_quantile_bins", 1, global_bins),
      column("share_of_the_session_volume", 1440,
             [at](Bars b) {
               double total = 1;
               return each(b, [b, at, &total](auto i) {
                 if (begins_session(b, i)) total = sums_of_session(b, i).second;
                 return volume_of(at(b, i)) / total;
               });
             }),
      column("session_vwap_known_at_open", 1440, whole_session_vwap),
      column("last_bar_of_session", 1,
             [](Bars b) {
               return each(b, [b](auto i) { return last_of_session(b, i) ? 1.0 : 0.0; });
             }),
      column("next_open_at_the_last_bar_only", 1,
             [](Bars b) {
               return each(
                   b, [b](auto i) { return last_of_session(b, i) ? log_move(b, i, i + 1) : 0.0; });
             }),
      column("bars_until_the_roll", 1, bars_to_roll),
      column("share_of_the_data_gone", 1,
             [](Bars b) {
               return each(b, [b](auto i) {
                 return static_cast<double>(i + 1) / static_cast<double>(b.size());
               });
             }),
      column("shifted_by_minus_one", 2,
             [at](Bars b) {
               return each(b, [b, at](auto i) {
                 return i + 1 < std::ssize(b) ? volume_of(at(b, i + 1))
                                              : static_cast<double>(kNoValue);
               });
             }),
      column("gap_to_the_next_bar", 1,
             [at](Bars b) {
               return each(b, [b, at](auto i) {
                 if (i + 1 == std::ssize(b)) return static_cast<double>(kNoValue);
                 return static_cast<double>(start_minute(at(b, i + 1)) - end_minute(at(b, i)));
               });
             }),
  };
}

std::vector<PlantedColumn> planted_warm_up_faults() {
  return {
      {.name = "ema_declared_too_short",
       .warm_up = 50,
       .function =
           [](Bars b) {
             double level = close_at(b, 0);
             return each(b, [&, b](auto i) {
               if (std::isfinite(close_at(b, i))) level += 0.1 * (close_at(b, i) - level);
               return level;
             });
           }},
      {.name = "running_sum_keeps_rounding",
       .warm_up = 20,
       .function =
           [](Bars b) {
             float sum = 0;
             return each(b, [&, b](std::ptrdiff_t i) {
               sum += static_cast<float>(close_at(b, i) * 1.1);
               if (i >= 20) sum -= static_cast<float>(close_at(b, i - 20) * 1.1);
               return i >= 19 ? static_cast<double>(sum) : static_cast<double>(kNoValue);
             });
           }},
      {.name = "volume_since_the_stream_began",
       .warm_up = 1,
       .function =
           [](Bars b) {
             double sum = 0;
             return each(
                 b, [&, b](auto i) { return sum += volume_of(b[static_cast<std::size_t>(i)]); });
           }},
  };
}

}  // namespace foxhunt::proofs
