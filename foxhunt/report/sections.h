#pragma once
// The sections of a run's page, one function each. Each answers HTML, "" where there is nothing to
// say.

#include <string>

#include "foxhunt/report/run_files.h"

namespace foxhunt::report {

std::string verdict_section(const RunFiles& run);
std::string baselines_section(const RunFiles& run);
std::string classes_section(const RunFiles& run);  ///< calibration and confusion
std::string groups_section(const RunFiles& run);   ///< by hour, by session
std::string training_section(const RunFiles& run);
std::string health_section(const RunFiles& run);
std::string memory_section(const RunFiles& run);
std::string data_section(const RunFiles& run);
std::string proofs_section(const RunFiles& run);
std::string config_section(const RunFiles& run);
std::string lineage_section(const RunFiles& run);
std::string other_files_section(const RunFiles& run);

/// "leak proof holds" or "unproven", for the head of the page.
std::string proof_word(const RunFiles& run);
/// Headline numbers corrected for the number of looks at the rows; "" where nobody knew of looks.
std::string trials_block(const Json& evaluation);

/// The evaluation that a page speaks of first: test, else valid, else train; nullptr without one.
const Evaluation* headline(const RunFiles& run);
/// "rank_ic" for every kind; "accuracy" for classes, "r2" for numbers: what stands beside the loss.
std::vector<std::string> headline_metrics(const Json& evaluation);

}  // namespace foxhunt::report
