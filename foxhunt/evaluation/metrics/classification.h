#pragma once
// How good class probabilities and the classes picked from them are.
//
// Everything takes optional row weights (weights.h). Losses come row by row first: their weighted
// mean is the metric, and the rows themselves tell a bootstrap how strongly neighbours depend on
// each other.

#include <cstddef>
#include <span>
#include <vector>

#include "foxhunt/evaluation/metrics/row_matrix.h"
#include "foxhunt/evaluation/metrics/value.h"
#include "foxhunt/evaluation/metrics/weights.h"

namespace foxhunt::evaluation {

/// Probabilities are clipped to [2^-52, 1 - 2^-52] before a logarithm, so that one certain and
/// wrong row costs 36 nats and not infinity.
inline constexpr double kProbabilityFloor = 0x1p-52;

/// Errors  ShapeError when there are not [N, K] values, K >= 2, for N true classes; DataError
/// naming the row when a
///         probability is not within [0, 1], a row does not sum to 1 (within 1e-4, what float32 may
///         lose), or a true class is not within 0 .. K-1. Everything below relies on it.
void check_probabilities(RowMatrix p, std::span<const int> truth);

/// [N] the class of the largest probability, the first of equals.
std::vector<int> predicted_classes(RowMatrix p);
/// [N] -ln p[i, truth[i]], clipped, in nats.
std::vector<double> log_losses(RowMatrix p, std::span<const int> truth);
/// [N] sum over the classes of (p - truth)^2: 0 .. 2. For two classes this is twice the binary
/// Brier score.
std::vector<double> brier_losses(RowMatrix p, std::span<const int> truth);

/// Counts of (true class, predicted class) and what follows from them. Counts are double: they may
/// be weighted.
class Confusion {
 public:
  Confusion() : Confusion(0) {}
  explicit Confusion(std::size_t n_classes);

  void add(int truth, int predicted, double w = 1.0) {
    counts_[static_cast<std::size_t>(truth) * n_ + static_cast<std::size_t>(predicted)] += w;
  }
  std::size_t n_classes() const { return n_; }
  double at(std::size_t truth, std::size_t predicted) const {
    return counts_[truth * n_ + predicted];
  }
  double true_rows(std::size_t k) const;       ///< rows whose true class is k
  double predicted_rows(std::size_t k) const;  ///< rows predicted as k
  double total() const;

  Value accuracy() const;
  Value precision(std::size_t k) const;  ///< undefined when k was never predicted
  Value recall(std::size_t k) const;     ///< undefined when k never occurred
  /// 2 TP / (2 TP + FP + FN); undefined only when k neither occurred nor was predicted. An
  /// undefined precision therefore counts as 0 here.
  Value f1(std::size_t k) const;
  /// Plain mean of the defined f1(k).
  Value macro_f1() const;
  /// Plain mean of the recall of the classes that occurred.
  Value balanced_accuracy() const;
  /// Matthews correlation for K classes (Gorodkin 2004): -1 .. 1. 0 when every row is predicted
  /// alike (no skill); undefined when only one class occurred, for then nothing could be told
  /// apart.
  Value mcc() const;

 private:
  std::size_t n_;
  std::vector<double> counts_;  ///< [K, K] rows truth, columns prediction
};

Confusion confusion(std::size_t n_classes, std::span<const int> truth,
                    std::span<const int> predicted, Weights w = {});

}  // namespace foxhunt::evaluation
