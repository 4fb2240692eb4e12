#pragma once
// "It goes on as it went": what usually followed a move like the last one, counted on the training
// rows.

#include <cstddef>
#include <span>
#include <vector>

namespace foxhunt::evaluation {

/// The class of the last move is not known (the first rows of a session).
inline constexpr int kNoLastClass = -1;

/// P(class | class of the last move).
class PersistenceTable {
 public:
  /// `last` and `labels` [N], classes 0 .. K-1, `last` also kNoLastClass. A row of the table is
  /// (count + K prior) / (rows with that last class + K): K rows' worth of the class prior smooth
  /// it. Without a last class the answer is the prior. Errors  ShapeError for unequal lengths or K
  /// < 2, DataError naming a row whose class is out of range.
  PersistenceTable(std::span<const int> last, std::span<const int> labels, std::size_t n_classes);

  /// [K] Errors  DataError when `last` is no class.
  std::span<const double> row(int last) const;
  /// [N, K]
  std::vector<double> predict(std::span<const int> last) const;

 private:
  std::size_t n_classes_;
  std::vector<double> table_;  ///< [K + 1, K], the last row for kNoLastClass
};

/// outcome = intercept + slope x last move, by least squares: slope > 0 is momentum, < 0 reversal.
struct PersistenceLine {
  double intercept = 0;
  double slope = 0;

  /// `last` [N] in the unit of `outcomes`; NaN where unknown: such a row counts as 0 and is left
  /// out of the fit. Errors  ShapeError for unequal lengths, DataError without outcomes or naming a
  /// row that is not finite.
  static PersistenceLine fit(std::span<const double> last, std::span<const double> outcomes);
  /// [N]
  std::vector<double> predict(std::span<const double> last) const;
};

}  // namespace foxhunt::evaluation
