#pragma once
// An evaluation enters the ledger, and its report learns how many looks at these rows that makes.
// Torch-free.

#include <filesystem>
#include <string>
#include <vector>

#include "foxhunt/evaluation/report/report.h"
#include "foxhunt/ledger/trials.h"
#include "foxhunt/train/data_lock.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::train {

ledger::DataSet data_set_of(const ExperimentConfig& config, const std::vector<DataFile>& files);

/// Fills what `report` says into `evaluation`, appends it to the ledger at `path` and sets the
/// report's trials. An empty path does nothing. A ledger that cannot be written: the report says
/// "not counted" and why, with a warning; nothing is thrown, since the answers are there and worth
/// more than their count.
void count_trial(evaluation::EvaluationReport& report, ledger::Evaluation evaluation,
                 const std::filesystem::path& path);

}  // namespace foxhunt::train
