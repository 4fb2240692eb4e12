#include "foxhunt/evaluation/resampling/bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "foxhunt/base/error.h"

namespace foxhunt::evaluation {
namespace {

/// The share of resamples to leave out at each end.
double tail_share(double level, std::size_t n_blocks) {
  const auto n = static_cast<double>(n_blocks);
  const double t = boost::math::quantile(boost::math::students_t(n - 1), (1 + level) / 2);
  return boost::math::cdf(boost::math::normal(), -t * std::sqrt(n / (n - 1)));
}

/// Quantile of sorted values, linear between neighbours.
double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

/// Why these resamples say nothing; nullptr when they do.
const char* unusable(const std::vector<double>& values, const Replicates& replicates) {
  if (replicates.n_blocks() < kLeastBlocks) return "too few blocks of rows for an interval";
  const bool few = values.empty() || values.size() * 20 < replicates.resamples() * 19;
  return few ? "undefined in too many resamples" : nullptr;
}

Value deviation(const std::vector<double>& values, const Replicates& replicates) {
  if (const char* reason = unusable(values, replicates)) return Value::undefined(reason);
  double mean = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const auto n = static_cast<double>(replicates.n_blocks());
  return Value::of(std::sqrt(squares / static_cast<double>(values.size()) * n / (n - 1)));
}

std::vector<double> values_of(const Replicates& replicates, std::size_t column) {
  std::vector<double> values;
  for (std::size_t r = 0; r < replicates.resamples(); ++r) {
    if (const Value v = replicates.at(r, column)) values.push_back(*v);
  }
  return values;
}

std::vector<double> differences_of(const Replicates& replicates, std::size_t a, std::size_t b) {
  std::vector<double> values;
  for (std::size_t r = 0; r < replicates.resamples(); ++r) {
    const Value va = replicates.at(r, a);
    const Value vb = replicates.at(r, b);
    if (va && vb) values.push_back(*va - *vb);
  }
  return values;
}

Interval percentile_interval(std::vector<double> values, const Replicates& replicates,
                             double level) {
  if (!(level > 0 && level < 1)) {
    throw ShapeError(fmt::format("[evaluation] level {} of an interval is outside (0, 1)", level));
  }
  if (const char* reason = unusable(values, replicates)) return Interval::undefined(reason);
  std::sort(values.begin(), values.end());
  const double tail = tail_share(level, replicates.n_blocks());
  return {Value::of(quantile(values, tail)), Value::of(quantile(values, 1 - tail))};
}

}  // namespace

BlockResampler BlockResampler::circular(std::size_t n_rows, std::size_t length) {
  if (n_rows == 0 || length == 0) {
    throw ShapeError(
        fmt::format("[evaluation] blocks of {} of {} rows cannot be drawn", length, n_rows));
  }
  BlockResampler r;
  r.n_rows_ = n_rows;
  r.length_ = std::min(length, n_rows);
  return r;
}

BlockResampler BlockResampler::groups(std::size_t n_rows, std::vector<std::size_t> first_rows) {
  first_rows.push_back(n_rows);
  if (first_rows.front() != 0 || n_rows == 0 ||
      std::adjacent_find(first_rows.begin(), first_rows.end(), std::greater_equal<>()) !=
          first_rows.end()) {
    throw ShapeError(fmt::format(
        "[evaluation] the first rows of the groups of {} rows must ascend from 0", n_rows));
  }
  BlockResampler r;
  r.n_rows_ = n_rows;
  r.first_rows_ = std::move(first_rows);
  return r;
}

std::size_t BlockResampler::n_blocks() const {
  return length_ > 0 ? n_rows_ / length_ : first_rows_.size() - 1;
}

void BlockResampler::draw(Rng& rng, std::span<double> weights) const {
  std::fill(weights.begin(), weights.end(), 0.0);
  if (length_ == 0) {
    const std::size_t groups = first_rows_.size() - 1;
    for (std::size_t drawn = 0; drawn < groups; ++drawn) {
      const std::size_t g = rng.below(groups);
      for (std::size_t i = first_rows_[g]; i < first_rows_[g + 1]; ++i) weights[i] += 1;
    }
    return;
  }
  for (std::size_t left = n_rows_; left > 0;) {
    const std::size_t length = std::min(length_, left);
    std::size_t i = rng.below(n_rows_);
    for (std::size_t k = 0; k < length; ++k) {
      weights[i] += 1;
      if (++i == n_rows_) i = 0;
    }
    left -= length;
  }
}

Replicates bootstrap(const BlockResampler& rows, std::size_t resamples, std::size_t n_values,
                     const Statistic& statistic, Rng& rng) {
  Replicates replicates(resamples, n_values, rows.n_blocks());
  std::vector<double> weights(rows.n_rows());
  for (std::size_t r = 0; r < resamples; ++r) {
    rows.draw(rng, weights);
    statistic(weights, replicates.row(r));
  }
  return replicates;
}

Interval interval(const Replicates& replicates, std::size_t column, double level) {
  return percentile_interval(values_of(replicates, column), replicates, level);
}

Value standard_error(const Replicates& replicates, std::size_t a) {
  return deviation(values_of(replicates, a), replicates);
}

Value standard_error(const Replicates& replicates, std::size_t a, std::size_t b) {
  return deviation(differences_of(replicates, a, b), replicates);
}

Interval reflected_interval(const Replicates& replicates, std::size_t column, double level,
                            double value) {
  const Interval plain = interval(replicates, column, level);
  if (!plain.defined()) return plain;
  return {Value::of(std::max(0.0, 2 * value - *plain.hi)),
          Value::of(std::max(0.0, 2 * value - *plain.lo))};
}

Interval difference_interval(const Replicates& replicates, std::size_t a, std::size_t b,
                             double level) {
  return percentile_interval(differences_of(replicates, a, b), replicates, level);
}

}  // namespace foxhunt::evaluation
