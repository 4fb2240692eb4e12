#pragma once
// What a run's rows cover, day by day: coverage.json of its folder. Torch-free.

#include <string>

#include "foxhunt/train/dataset.h"

namespace foxhunt::train {

/// {"bar_minutes", "summary", "parts": {name: {days, rows, labels, first, last}}, "days": [{date,
/// part, rows, labels, first, last, missing_minutes, longest_gap_minutes, longest_gap_from}]}, days
/// ascending, an entry for each part that has rows of the trading day.
///
/// A gap is the time between neighbouring rows of a trading day and contract less the usual
/// distance of rows (the commonest one). It stands in the part of the row behind it. Cost  O(rows).
std::string coverage_json(const Dataset& data);

}  // namespace foxhunt::train
