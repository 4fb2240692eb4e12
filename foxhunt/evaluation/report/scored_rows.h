#pragma once
// What was judged, row by row: rows and what every forecaster said to them. Kept in a file, so that
// several evaluations (the folds of a walk-forward) can be judged as one.

#include <string>
#include <vector>

#include "foxhunt/evaluation/baselines/standard.h"
#include "foxhunt/evaluation/forecasts.h"
#include "foxhunt/evaluation/report/task.h"

namespace foxhunt::evaluation {

struct ScoredRows {
  Task task;
  EvaluationRows rows;
  Forecasts model;
  Baselines baselines;
};

/// A line that says what follows, then one JSON line a row. Numbers come back bit for bit.
std::string to_json_lines(const ScoredRows& scored);
/// Errors  FormatError naming `name` and the line.
ScoredRows parse_scored_rows(const std::string& text, const std::string& name);

/// One after the other, in order of time. The mean of a regression's training rows becomes the mean
/// over the parts, by their rows. Errors  ShapeError: no part, other tasks or other forecasters;
/// DataError: a part begins before the one before it ended.
ScoredRows pooled(const std::vector<ScoredRows>& parts);

}  // namespace foxhunt::evaluation
