#pragma once
// Verbs that another program of ours runs: `foxhunt-serve`, which lies beside this one and links no
// LibTorch. A serving process must not hold it, so the verb replaces this process.

#include "foxhunt/app/command.h"

namespace foxhunt::app {

/// Whether the command line's verb is one of the serving program. Its words are not parsed here:
/// options and --help are the other program's.
bool is_verb_of_serving_program(int argc, const char* const* argv);

/// Runs `foxhunt-serve` with this command line, in this process's place. Errors  UsageError: it is
/// not there.
[[noreturn]] void run_serving_program(int argc, const char* const* argv);

/// For the list of verbs in --help.
Run add_handed_over(CLI::App& sub, const Globals& globals);

}  // namespace foxhunt::app
