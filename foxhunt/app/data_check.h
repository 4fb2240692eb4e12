#pragma once
// foxhunt data check, a verb below data.

#include <memory>

#include "foxhunt/cli/program.h"

namespace foxhunt::app {

/// Adds it to `data`; `run` is what was chosen, once parsed.
void add_data_check(CLI::App& data, const cli::Globals& globals,
                    const std::shared_ptr<cli::Run>& run);

}  // namespace foxhunt::app
