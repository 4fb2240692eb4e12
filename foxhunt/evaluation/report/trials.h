#pragma once
// How often the rows of a report were looked at, and its headline numbers less what that explains.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/evaluation/resampling/deflation.h"

namespace foxhunt::evaluation {

struct EvaluationReport;

struct DeflatedMetric {
  std::string metric{};    ///< the main loss, or "rank_ic"
  std::string baseline{};  ///< what the gain is over; empty: over 0
  Deflated result{};
};

struct Trials {
  std::optional<std::int64_t> count{};  ///< sets of weights tried on these rows, this one included
  std::string not_counted = "nobody counted";  ///< why there is no count
  std::int64_t related = 0;  ///< further looks at the same market and time in other data sets
  std::string data_set{};    ///< its id in the ledger
  std::vector<DeflatedMetric> deflated{};  ///< empty without a count
};

/// Corrects the headline numbers of `report` for `trials` looks, this one included: the gain in the
/// main loss over the best baseline, and the rank IC over 0. Adds what it means to the verdict.
void set_trials(EvaluationReport& report, std::int64_t trials, std::int64_t related,
                const std::string& data_set);

/// A sentence or two: how many looks, and the formula; or why nobody counted.
std::string trials_text(const Trials& trials);

}  // namespace foxhunt::evaluation
