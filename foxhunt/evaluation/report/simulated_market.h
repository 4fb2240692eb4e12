#pragma once
// For tests: outcomes with a known part that can be forecast, and forecasters that know more or
// less of it.

#include <cmath>
#include <string>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/evaluation/forecasts.h"
#include "foxhunt/evaluation/report/task.h"

namespace foxhunt::evaluation {

/// outcome = signal + other + noise, signal and other of sd 0.3 and noise of sd 1, all independent;
/// classes at -0.4 and 0.4. Minute rows, `rows_a_session` a day from 14:00 UTC.
struct SimulatedMarket {
  SimulatedMarket(std::size_t n, std::size_t rows_a_session, std::uint64_t seed) {
    Rng rng(seed);
    for (std::size_t i = 0; i < n; ++i) {
      signal.push_back(0.3 * rng.normal());
      other.push_back(0.3 * rng.normal());
      const double outcome = signal.back() + other.back() + rng.normal();
      const std::chrono::sys_days day =
          std::chrono::sys_days{
              Date{std::chrono::year{2024}, std::chrono::March, std::chrono::day{4}}} +
          std::chrono::days{i / rows_a_session};
      rows.times.push_back(day + std::chrono::hours{14} + std::chrono::minutes{i % rows_a_session});
      rows.sessions.push_back(Date{day});
      rows.outcomes.push_back(outcome);
      rows.labels.push_back(outcome < -kEdge ? 0 : outcome > kEdge ? 2 : 1);
    }
  }

  /// The true class probabilities for who knows that the outcome is normal around centre x `known`.
  static Forecasts knowing(std::string name, const std::vector<double>& known) {
    const double sd = std::sqrt(1 + 0.09);  // the noise and the other part
    const auto below = [sd](double x) { return 0.5 * std::erfc(-x / sd / std::sqrt(2.0)); };
    Forecasts f{std::move(name), {}};
    for (const double centre : known) {
      const double down = below(-kEdge - centre);
      const double up = 1 - below(kEdge - centre);
      f.values.insert(f.values.end(), {down, 1 - down - up, up});
    }
    return f;
  }
  Forecasts knowing_nothing(std::string name) const {
    return knowing(std::move(name), std::vector(signal.size(), 0.0));
  }

  static constexpr double kEdge = 0.4;
  EvaluationRows rows;
  std::vector<double> signal;
  std::vector<double> other;
};

}  // namespace foxhunt::evaluation
