#include "foxhunt/evaluation/baselines/persistence.h"

#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/evaluation/baselines/prior.h"

namespace foxhunt::evaluation {
namespace {

void check_lengths(std::size_t last, std::size_t outcomes) {
  if (last != outcomes) {
    throw ShapeError(
        fmt::format("[baselines] {} last moves for {} training outcomes", last, outcomes));
  }
}

}  // namespace

PersistenceTable::PersistenceTable(std::span<const int> last, std::span<const int> labels,
                                   std::size_t n_classes)
    : n_classes_(n_classes), table_((n_classes + 1) * n_classes, 0.0) {
  check_lengths(last.size(), labels.size());
  const std::vector<double> prior = class_prior(labels, n_classes);  // checks the labels
  const auto pseudo_rows = static_cast<double>(n_classes);
  std::vector<double> rows(n_classes, pseudo_rows);
  for (std::size_t l = 0; l <= n_classes; ++l) {
    for (std::size_t k = 0; k < n_classes; ++k) {
      table_[l * n_classes + k] = l < n_classes ? pseudo_rows * prior[k] : prior[k];
    }
  }
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (last[i] == kNoLastClass) continue;
    if (last[i] < 0 || static_cast<std::size_t>(last[i]) >= n_classes) {
      throw DataError(fmt::format("[baselines] training row {}: last class {} is outside 0 .. {}",
                                  i, last[i], n_classes - 1));
    }
    const auto l = static_cast<std::size_t>(last[i]);
    table_[l * n_classes + static_cast<std::size_t>(labels[i])] += 1;
    rows[l] += 1;
  }
  for (std::size_t l = 0; l < n_classes; ++l) {
    for (std::size_t k = 0; k < n_classes; ++k) table_[l * n_classes + k] /= rows[l];
  }
}

std::span<const double> PersistenceTable::row(int last) const {
  if (last != kNoLastClass && (last < 0 || static_cast<std::size_t>(last) >= n_classes_)) {
    throw DataError(
        fmt::format("[baselines] last class {} is outside 0 .. {}", last, n_classes_ - 1));
  }
  const std::size_t l = last == kNoLastClass ? n_classes_ : static_cast<std::size_t>(last);
  return std::span(table_).subspan(l * n_classes_, n_classes_);
}

std::vector<double> PersistenceTable::predict(std::span<const int> last) const {
  std::vector<double> p;
  p.reserve(last.size() * n_classes_);
  for (const int l : last) {
    const auto probabilities = row(l);
    p.insert(p.end(), probabilities.begin(), probabilities.end());
  }
  return p;
}

PersistenceLine PersistenceLine::fit(std::span<const double> last,
                                     std::span<const double> outcomes) {
  check_lengths(last.size(), outcomes.size());
  PersistenceLine line{.intercept = mean_outcome(outcomes), .slope = 0};  // checks the outcomes
  double n = 0;
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (std::isnan(last[i])) continue;
    if (std::isinf(last[i]))
      throw DataError(fmt::format("[baselines] training row {}: infinite last move", i));
    n += 1;
    mean_x += last[i];
    mean_y += outcomes[i];
  }
  if (n == 0) return line;
  mean_x /= n;
  mean_y /= n;
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (std::isnan(last[i])) continue;
    xx += (last[i] - mean_x) * (last[i] - mean_x);
    xy += (last[i] - mean_x) * (outcomes[i] - mean_y);
  }
  if (xx <= 0) return line;  // the last move never varied: nothing to learn from it
  line.slope = xy / xx;
  line.intercept = mean_y - line.slope * mean_x;
  return line;
}

std::vector<double> PersistenceLine::predict(std::span<const double> last) const {
  std::vector<double> forecast;
  forecast.reserve(last.size());
  for (const double x : last) forecast.push_back(intercept + (std::isnan(x) ? 0.0 : slope * x));
  return forecast;
}

}  // namespace foxhunt::evaluation
