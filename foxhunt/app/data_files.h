#pragma once
// The verbs of `foxhunt data` that write files. Each sets `run` when it was parsed.

#include "foxhunt/app/command.h"

namespace foxhunt::app {

void add_data_convert(CLI::App& data, Run& run, const Globals& globals);
void add_data_merge(CLI::App& data, Run& run, const Globals& globals);
void add_data_split(CLI::App& data, Run& run, const Globals& globals);

}  // namespace foxhunt::app
