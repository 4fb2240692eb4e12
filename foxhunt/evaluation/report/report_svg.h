#pragma once
// The pictures of a report.

#include <string>

#include "foxhunt/evaluation/report/report.h"

namespace foxhunt::evaluation {

/// Reliability of the model's probabilities, a panel a class; "no data" for other tasks.
std::string calibration_svg(const EvaluationReport& report);

/// What the model saves of the main loss against the best baseline, hour by hour and session by
/// session; without baselines, the loss itself.
std::string by_hour_svg(const EvaluationReport& report);
std::string by_session_svg(const EvaluationReport& report);

}  // namespace foxhunt::evaluation
