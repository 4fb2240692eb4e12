#pragma once
// The same metrics, session by session and hour by hour: is it one good day, or every day a little?

#include "foxhunt/evaluation/forecasts.h"
#include "foxhunt/evaluation/report/report.h"
#include "foxhunt/evaluation/report/task.h"

namespace foxhunt::evaluation {

/// Scores `model`, and `baseline` by the main metric (nullptr: none), on the rows of each session,
/// oldest first. No intervals: a session holds too few rows. Errors  as make_scorer().
Breakdown by_session(const EvaluationRows& rows, const Task& task, const Forecasts& model,
                     const Forecasts* baseline);
/// The same by `rows.hours`, or by the hour of the day in UTC.
Breakdown by_hour(const EvaluationRows& rows, const Task& task, const Forecasts& model,
                  const Forecasts* baseline);

}  // namespace foxhunt::evaluation
