#pragma once
// How far a number could have come out otherwise: block bootstrap over rows in time order.
//
// Rows of a market depend on their neighbours (labels overlap, volatility clusters), so whole
// blocks of neighbours are drawn with replacement, and what is drawn is handed to the statistic as
// row weights (metrics/weights.h). All numbers of one resample are computed on the same rows: the
// difference of two of them is a paired difference.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/evaluation/metrics/value.h"
#include "foxhunt/evaluation/metrics/weights.h"

namespace foxhunt::evaluation {

/// Draws blocks of rows.
class BlockResampler {
 public:
  /// Blocks of `length` neighbouring rows that may start anywhere; the last row is followed by the
  /// first (Politis & Romano 1992), so that every row is drawn equally often. A resample has
  /// exactly `n_rows` rows. Errors  ShapeError when either is 0.
  static BlockResampler circular(std::size_t n_rows, std::size_t length);
  /// Whole groups of rows (trading sessions): `first_rows` ascending, starting with 0, each the
  /// first row of a group. A resample has as many groups as there are. Errors  ShapeError when they
  /// are none of that.
  static BlockResampler groups(std::size_t n_rows, std::vector<std::size_t> first_rows);

  std::size_t n_rows() const { return n_rows_; }
  /// How many whole blocks the rows hold side by side: the number of independent observations, at
  /// best.
  std::size_t n_blocks() const;
  /// `weights` [N] becomes how often each row was drawn.
  void draw(Rng& rng, std::span<double> weights) const;

 private:
  BlockResampler() = default;
  std::size_t n_rows_ = 0;
  std::size_t length_ = 0;               ///< circular blocks; 0 for groups
  std::vector<std::size_t> first_rows_;  ///< groups, with n_rows_ at the end
};

/// Writes the numbers that a resample gives.
using Statistic = std::function<void(Weights w, std::span<Value> out)>;

/// The numbers of every resample: [resamples, columns].
class Replicates {
 public:
  Replicates(std::size_t resamples, std::size_t columns, std::size_t n_blocks)
      : columns_(columns), n_blocks_(n_blocks), values_(resamples * columns) {}

  std::size_t resamples() const { return columns_ == 0 ? 0 : values_.size() / columns_; }
  std::size_t n_blocks() const { return n_blocks_; }
  std::span<Value> row(std::size_t r) { return std::span(values_).subspan(r * columns_, columns_); }
  const Value& at(std::size_t r, std::size_t column) const {
    return values_[r * columns_ + column];
  }

 private:
  std::size_t columns_;
  std::size_t n_blocks_;
  std::vector<Value> values_;
};

/// Cost  resamples x (N + one evaluation of `statistic`).
Replicates bootstrap(const BlockResampler& rows, std::size_t resamples, std::size_t n_values,
                     const Statistic& statistic, Rng& rng);

/// Fewer blocks than this say nothing about how far a number can swing.
inline constexpr std::size_t kLeastBlocks = 8;

/// Percentile interval of a column at `level` (0.95), widened for few blocks by the t quantile and
/// n / (n - 1) (Hesterberg 2015, the "expanded percentile interval", with n = blocks): the plain
/// one is too narrow then. Undefined with fewer than kLeastBlocks blocks, or when more than one
/// resample in twenty has no value.
Interval interval(const Replicates& replicates, std::size_t column, double level);
/// The same for column `a` minus column `b`, resample by resample.
Interval difference_interval(const Replicates& replicates, std::size_t a, std::size_t b,
                             double level);
/// Standard error of column `a`, or of `a` minus `b`: the deviation over the resamples times
/// sqrt(n / (n - 1)), n = blocks. Undefined where the interval is.
Value standard_error(const Replicates& replicates, std::size_t a);
Value standard_error(const Replicates& replicates, std::size_t a, std::size_t b);
/// For a statistic >= 0 that noise alone raises, of value `value` on the rows themselves: the
/// percentile interval reflected at the value, not below 0. Resamples add the same noise again and
/// lie too high by what the value already is.
Interval reflected_interval(const Replicates& replicates, std::size_t column, double level,
                            double value);

}  // namespace foxhunt::evaluation
