#include "foxhunt/evaluation/baselines/prior.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/base/error.h"

namespace foxhunt::evaluation {
namespace {

void check_outcomes(std::span<const double> outcomes) {
  if (outcomes.empty()) throw DataError("[baselines] no training rows");
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!std::isfinite(outcomes[i])) {
      throw DataError(
          fmt::format("[baselines] training row {}: outcome {} is not finite", i, outcomes[i]));
    }
  }
}

}  // namespace

std::vector<double> class_prior(std::span<const int> labels, std::size_t n_classes) {
  if (n_classes < 2)
    throw ShapeError(fmt::format("[baselines] {} classes, but it must be at least 2", n_classes));
  std::vector<double> prior(n_classes, 1.0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || static_cast<std::size_t>(labels[i]) >= n_classes) {
      throw DataError(fmt::format("[baselines] training row {}: class {} is outside 0 .. {}", i,
                                  labels[i], n_classes - 1));
    }
    prior[static_cast<std::size_t>(labels[i])] += 1;
  }
  for (double& p : prior) p /= static_cast<double>(labels.size() + n_classes);
  return prior;
}

double mean_outcome(std::span<const double> outcomes) {
  check_outcomes(outcomes);
  double sum = 0;
  for (const double y : outcomes) sum += y;
  return sum / static_cast<double>(outcomes.size());
}

std::vector<double> outcome_quantiles(std::span<const double> outcomes,
                                      std::span<const double> levels) {
  check_outcomes(outcomes);
  std::vector<double> sorted(outcomes.begin(), outcomes.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> quantiles;
  for (const double q : levels) {
    if (!(q > 0 && q < 1))
      throw ShapeError(fmt::format("[baselines] quantile level {} is outside (0, 1)", q));
    const double position = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    quantiles.push_back(
        std::lerp(sorted[below], sorted[above], position - static_cast<double>(below)));
  }
  return quantiles;
}

std::vector<double> repeat(std::span<const double> row, std::size_t n) {
  std::vector<double> rows;
  rows.reserve(n * row.size());
  for (std::size_t i = 0; i < n; ++i) rows.insert(rows.end(), row.begin(), row.end());
  return rows;
}

std::vector<double> around(std::span<const double> centres, std::span<const double> offsets) {
  std::vector<double> rows;
  rows.reserve(centres.size() * offsets.size());
  for (const double centre : centres) {
    for (const double offset : offsets) rows.push_back(centre + offset);
  }
  return rows;
}

}  // namespace foxhunt::evaluation
