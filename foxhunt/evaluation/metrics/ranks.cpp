#include "foxhunt/evaluation/metrics/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "foxhunt/base/error.h"

namespace foxhunt::evaluation {
namespace {

/// Pairs of equals within runs of `same(i, i + 1)`.
template <class Same>
double tied_pairs(std::size_t n, Same same) {
  double pairs = 0;
  double run = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    if (i < n && same(i - 1, i)) {
      ++run;
    } else {
      pairs += run * (run - 1) / 2;
      run = 1;
    }
  }
  return pairs;
}

/// Sorts `values` and returns how many exchanges of neighbours that takes: the discordant pairs.
double merge_sort_exchanges(std::vector<double>& values) {
  const std::size_t n = values.size();
  std::vector<double> merged(n);
  double exchanges = 0;
  for (std::size_t width = 1; width < n; width *= 2) {
    for (std::size_t begin = 0; begin < n; begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, n);
      const std::size_t end = std::min(begin + 2 * width, n);
      std::size_t a = begin;
      std::size_t b = middle;
      for (std::size_t out = begin; out < end; ++out) {
        if (a < middle && (b == end || values[a] <= values[b])) {
          merged[out] = values[a++];
        } else {
          merged[out] = values[b++];
          exchanges += static_cast<double>(middle - a);
        }
      }
    }
    values.swap(merged);
  }
  return exchanges;
}

}  // namespace

Ordering::Ordering(std::span<const double> values) : order_(values.size()) {
  if (values.size() >= std::numeric_limits<std::uint32_t>::max()) {
    throw ShapeError(
        fmt::format("[evaluation] {} rows are more than can be ranked", values.size()));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw DataError(fmt::format("[evaluation] row {}: {} cannot be ranked", i, values[i]));
    }
  }
  std::iota(order_.begin(), order_.end(), 0U);
  // Equal values keep the order of the rows, so that sums run alike everywhere.
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
  for (std::size_t i = 1; i <= order_.size(); ++i) {
    if (i == order_.size() || values[order_[i]] != values[order_[i - 1]]) {
      group_ends_.push_back(static_cast<std::uint32_t>(i));
    }
  }
}

void Ordering::average_ranks(Weights w, std::span<double> ranks) const {
  double before = 0;
  std::size_t begin = 0;
  for (const std::size_t end : group_ends_) {
    double group = 0;
    for (std::size_t i = begin; i < end; ++i) group += weight(w, order_[i]);
    const double rank = before + (group + 1) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order_[i]] = rank;
    before += group;
    begin = end;
  }
}

Value spearman(const Ordering& x, const Ordering& y, Weights w) {
  const std::size_t n = x.size();
  if (y.size() != n) {
    throw ShapeError(fmt::format("[evaluation] {} forecasts for {} outcomes", n, y.size()));
  }
  std::vector<double> rank_x(n);
  std::vector<double> rank_y(n);
  x.average_ranks(w, rank_x);
  y.average_ranks(w, rank_y);
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += weight(w, i);
  const double middle = (total + 1) / 2;  // the mean of all ranks, ties or not
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double wi = weight(w, i);
    const double dx = rank_x[i] - middle;
    const double dy = rank_y[i] - middle;
    xx += wi * dx * dx;
    yy += wi * dy * dy;
    xy += wi * dx * dy;
  }
  if (xx <= 0) return Value::undefined("the forecast does not vary");
  if (yy <= 0) return Value::undefined("the outcome does not vary");
  return Value::of(xy / std::sqrt(xx * yy));
}

Value kendall_tau_b(std::span<const double> x, std::span<const double> y) {
  const std::size_t n = x.size();
  if (y.size() != n) {
    throw ShapeError(fmt::format("[evaluation] {} forecasts for {} outcomes", n, y.size()));
  }
  std::vector<std::uint32_t> by_x = Ordering(x).order();
  const Ordering by_y(y);
  std::stable_sort(by_x.begin(), by_x.end(), [&](std::uint32_t a, std::uint32_t b) {
    return x[a] < x[b] || (x[a] == x[b] && y[a] < y[b]);
  });
  const double pairs = static_cast<double>(n) * (static_cast<double>(n) - 1) / 2;
  const double ties_x = tied_pairs(n, [&](auto a, auto b) { return x[by_x[a]] == x[by_x[b]]; });
  const double ties_xy = tied_pairs(
      n, [&](auto a, auto b) { return x[by_x[a]] == x[by_x[b]] && y[by_x[a]] == y[by_x[b]]; });
  const auto& sorted_y = by_y.order();
  const double ties_y =
      tied_pairs(n, [&](auto a, auto b) { return y[sorted_y[a]] == y[sorted_y[b]]; });
  if (pairs - ties_x <= 0) return Value::undefined("the forecast does not vary");
  if (pairs - ties_y <= 0) return Value::undefined("the outcome does not vary");

  std::vector<double> ys(n);
  for (std::size_t i = 0; i < n; ++i) ys[i] = y[by_x[i]];
  const double discordant = merge_sort_exchanges(ys);
  const double score = pairs - ties_x - ties_y + ties_xy - 2 * discordant;
  return Value::of(score / std::sqrt((pairs - ties_x) * (pairs - ties_y)));
}

Value auc(const Ordering& score, std::span<const std::uint8_t> positive, Weights w) {
  double positives = 0;
  double negatives = 0;
  double won = 0;
  std::size_t begin = 0;
  for (const std::size_t end : score.group_ends()) {
    double p = 0;
    double q = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t row = score.order()[i];
      (positive[row] != 0 ? p : q) += weight(w, row);
    }
    won += p * (negatives + q / 2);
    positives += p;
    negatives += q;
    begin = end;
  }
  return Value::ratio(won, positives * negatives, "only one class occurred");
}

Value average_precision(const Ordering& score, std::span<const std::uint8_t> positive, Weights w) {
  double positives = 0;
  double seen = 0;
  double sum = 0;
  const auto& ends = score.group_ends();
  for (std::size_t g = ends.size(); g-- > 0;) {
    const std::size_t begin = g == 0 ? 0 : ends[g - 1];
    double gained = 0;
    for (std::size_t i = begin; i < ends[g]; ++i) {
      const std::size_t row = score.order()[i];
      seen += weight(w, row);
      if (positive[row] != 0) gained += weight(w, row);
    }
    positives += gained;
    if (gained > 0) sum += gained * positives / seen;
  }
  return Value::ratio(sum, positives, "the class never occurred");
}

}  // namespace foxhunt::evaluation
