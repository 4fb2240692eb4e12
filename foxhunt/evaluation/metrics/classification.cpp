#include "foxhunt/evaluation/metrics/classification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/base/error.h"

namespace foxhunt::evaluation {
namespace {

constexpr const char* kNoRows = "no rows";

}  // namespace

void check_probabilities(RowMatrix p, std::span<const int> truth) {
  constexpr double kSumTolerance = 1e-4;
  if (p.cols < 2 || p.values.size() != truth.size() * p.cols) {
    throw ShapeError(
        fmt::format("[evaluation] {} probabilities in rows of {} for {} true classes, but it must "
                    "be [N, K] for N, K >= 2",
                    p.values.size(), p.cols, truth.size()));
  }
  for (std::size_t i = 0; i < truth.size(); ++i) {
    double sum = 0;
    for (const double x : p.row(i)) {
      if (!(x >= 0 && x <= 1)) {
        throw DataError(fmt::format("[evaluation] row {}: probability {} is outside [0, 1]", i, x));
      }
      sum += x;
    }
    if (std::abs(sum - 1) > kSumTolerance) {
      throw DataError(
          fmt::format("[evaluation] row {}: the probabilities sum to {}, not to 1", i, sum));
    }
    if (truth[i] < 0 || static_cast<std::size_t>(truth[i]) >= p.cols) {
      throw DataError(fmt::format("[evaluation] row {}: true class {} is outside 0 .. {}", i,
                                  truth[i], p.cols - 1));
    }
  }
}

std::vector<int> predicted_classes(RowMatrix p) {
  std::vector<int> classes(p.rows());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto row = p.row(i);
    classes[i] = static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin());
  }
  return classes;
}

std::vector<double> log_losses(RowMatrix p, std::span<const int> truth) {
  std::vector<double> losses(p.rows());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double q = p.at(i, static_cast<std::size_t>(truth[i]));
    losses[i] = -std::log(std::clamp(q, kProbabilityFloor, 1 - kProbabilityFloor));
  }
  return losses;
}

std::vector<double> brier_losses(RowMatrix p, std::span<const int> truth) {
  std::vector<double> losses(p.rows());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    for (std::size_t k = 0; k < p.cols; ++k) {
      const double error = p.at(i, k) - (static_cast<std::size_t>(truth[i]) == k ? 1.0 : 0.0);
      losses[i] += error * error;
    }
  }
  return losses;
}

Confusion::Confusion(std::size_t n_classes) : n_(n_classes), counts_(n_classes * n_classes, 0.0) {}

double Confusion::true_rows(std::size_t k) const {
  double sum = 0;
  for (std::size_t j = 0; j < n_; ++j) sum += at(k, j);
  return sum;
}

double Confusion::predicted_rows(std::size_t k) const {
  double sum = 0;
  for (std::size_t j = 0; j < n_; ++j) sum += at(j, k);
  return sum;
}

double Confusion::total() const {
  double sum = 0;
  for (const double count : counts_) sum += count;
  return sum;
}

Value Confusion::accuracy() const {
  double right = 0;
  for (std::size_t k = 0; k < n_; ++k) right += at(k, k);
  return Value::ratio(right, total(), kNoRows);
}

Value Confusion::precision(std::size_t k) const {
  return Value::ratio(at(k, k), predicted_rows(k), "the class was never predicted");
}

Value Confusion::recall(std::size_t k) const {
  return Value::ratio(at(k, k), true_rows(k), "the class never occurred");
}

Value Confusion::f1(std::size_t k) const {
  return Value::ratio(2 * at(k, k), true_rows(k) + predicted_rows(k),
                      "the class neither occurred nor was predicted");
}

Value Confusion::macro_f1() const {
  double sum = 0;
  double present = 0;
  for (std::size_t k = 0; k < n_; ++k) {
    if (const Value f = f1(k)) {
      sum += *f;
      ++present;
    }
  }
  return Value::ratio(sum, present, kNoRows);
}

Value Confusion::balanced_accuracy() const {
  double sum = 0;
  double present = 0;
  for (std::size_t k = 0; k < n_; ++k) {
    if (const Value r = recall(k)) {
      sum += *r;
      ++present;
    }
  }
  return Value::ratio(sum, present, kNoRows);
}

Value Confusion::mcc() const {
  const double n = total();
  if (n <= 0) return Value::undefined(kNoRows);
  double right = 0;
  double both = 0;
  double true_squares = 0;
  double predicted_squares = 0;
  for (std::size_t k = 0; k < n_; ++k) {
    const double t = true_rows(k);
    const double p = predicted_rows(k);
    right += at(k, k);
    both += t * p;
    true_squares += t * t;
    predicted_squares += p * p;
  }
  if (n * n - true_squares <= 0) return Value::undefined("only one class occurred");
  if (n * n - predicted_squares <= 0) return Value::of(0);
  return Value::of((right * n - both) /
                   std::sqrt((n * n - predicted_squares) * (n * n - true_squares)));
}

Confusion confusion(std::size_t n_classes, std::span<const int> truth,
                    std::span<const int> predicted, Weights w) {
  Confusion counts(n_classes);
  for (std::size_t i = 0; i < truth.size(); ++i) counts.add(truth[i], predicted[i], weight(w, i));
  return counts;
}

}  // namespace foxhunt::evaluation
