#pragma once
// From forecasts to a report: every forecaster on the same rows and the same resamples.

#include <cstddef>
#include <variant>

#include "foxhunt/base/rng.h"
#include "foxhunt/evaluation/baselines/standard.h"
#include "foxhunt/evaluation/forecasts.h"
#include "foxhunt/evaluation/report/report.h"

namespace foxhunt::evaluation {

/// The largest of: the cube root of the rows, the label's horizon, and what
/// automatic_block_length() finds in the model's losses and in their differences to each
/// baseline's. Shortened where it would leave fewer than kLeastBlocks.
struct AutomaticBlocks {
  std::size_t horizon_rows =
      1;  ///< rows that a label looks ahead: neighbours closer than that share their outcome
};
struct FixedBlocks {
  std::size_t rows = 1;
};
/// Whole sessions: the most honest with 20 of them or more.
struct SessionBlocks {};

struct EvaluationOptions {
  std::size_t resamples = 1000;
  double level = 0.95;
  std::variant<AutomaticBlocks, FixedBlocks, SessionBlocks> blocks = AutomaticBlocks{};
  std::size_t calibration_bins = 10;
};

/// `baselines` may hold more than the standard ones (a GRU of like size). The same seed gives the
/// same report. Errors  DataError, ShapeError as check_rows() and make_scorer(); ShapeError when
/// two forecasters share a name. Cost    resamples x forecasters x N x about 20 operations.
EvaluationReport evaluate(const EvaluationRows& rows, const Task& task, const Forecasts& model,
                          const Baselines& baselines, const EvaluationOptions& options,
                          const Rng& rng);

}  // namespace foxhunt::evaluation
