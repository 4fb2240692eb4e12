#pragma once
// The verbs of `foxhunt-serve`; cli/program.h says how a verb is built. A new one is a file here, a
// line in main.cpp, and a line in app/beside.cpp.

#include "foxhunt/cli/program.h"

namespace foxhunt::serve_app {

using cli::Command;
using cli::Globals;
using cli::Run;

Run add_serve(CLI::App& sub, const Globals& globals);
Run add_verify(CLI::App& sub, const Globals& globals);
Run add_bench(CLI::App& sub, const Globals& globals);

}  // namespace foxhunt::serve_app
