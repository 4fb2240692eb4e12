#pragma once
// Trained again and again while time goes on, and judged on what came after each training. The door
// of `foxhunt walkforward`. Torch-free: it trains and evaluates through train/train.h.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "foxhunt/base/progress.h"
#include "foxhunt/evaluation/report/report.h"
#include "foxhunt/experiments/fold_plan.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::experiments {

struct WalkForwardOptions {
  std::filesystem::path out{};
  bool overwrite = false;  ///< an earlier walk-forward there may go
  std::string device = "cpu";
  std::filesystem::path proof{};   ///< leakproof.json that speaks of every fold; empty: unproven
  bool require_proof = false;      ///< refuses without one
  std::filesystem::path ledger{};  ///< where it is counted, as one trial; empty: nowhere
  ProgressMode progress = ProgressMode::kAuto;
  std::vector<std::string> command_line{};
};

/// One fold, once it was judged on its test rows.
struct FoldResult {
  Fold fold{};
  std::string run{};  ///< folder, relative to the parent
  std::string weights_sha256{};
  std::int64_t best_epoch = 0;
  std::int64_t rows = 0;
  std::string metric{};
  evaluation::Value model{};
  std::string baseline{};           ///< the best one on these rows
  evaluation::Value gain{};         ///< above 0: the model is better
  evaluation::Interval interval{};  ///< of the gain
};

struct WalkForwardReport {
  std::filesystem::path folder{};
  FoldPlan plan{};
  std::string leak_proof{};  ///< seal of the folds' proof; empty: unproven
  std::vector<FoldResult> folds{};
  std::int64_t better = 0;                ///< folds in which the model beat its best baseline
  evaluation::EvaluationReport pooled{};  ///< all test rows as one, block bootstrap over them
};

/// Plans, trains what is not trained yet, judges. The folder: walkforward.json (plan and state),
/// a run folder fold-NN each, walkforward-report.json, walkforward.txt, walkforward.svg. A folder
/// that holds a walk-forward of the same configuration and data is gone on with: a finished fold is
/// kept as it is, a half one goes on from its newest checkpoint.
/// Errors  ConfigError: not one fold fits, another configuration's folder, a proof required and
///         none named; DataError: a proof that does not speak of a fold; what train and evaluate
///         throw; InterruptedError after everything was saved.
WalkForwardReport walk_forward(const train::ExperimentConfig& config,
                               const WalkForwardOptions& options);

std::string to_text(const WalkForwardReport& report);
std::string to_json(const WalkForwardReport& report);
std::string to_svg(const WalkForwardReport& report);

}  // namespace foxhunt::experiments
