#pragma once
// foxhunt bench dbn.

#include "foxhunt/app/command.h"

namespace foxhunt::app {

Run add_dbn_bench(CLI::App& sub, const Globals& globals);

}  // namespace foxhunt::app
