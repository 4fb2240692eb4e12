#pragma once
// The pictures of a run folder: loss.svg, calibration-SPLIT.svg, hours-SPLIT.svg. Torch-free.

#include <string>

#include "foxhunt/evaluation/report/report.h"
#include "foxhunt/train/run_dir.h"

namespace foxhunt::train {

/// Errors  IoError. A run without epochs has no loss chart; only classification has calibration.
void write_charts(const RunDir& run, const std::string& split,
                  const evaluation::EvaluationReport& report);

}  // namespace foxhunt::train
