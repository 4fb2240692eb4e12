#pragma once
// How a program of verbs is built. A verb adds its options and returns what to run once they are
// parsed.

#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"

namespace CLI {
class App;
}

namespace foxhunt::cli {

/// Options that every verb understands.
struct Globals {
  bool json = false;   ///< machine-readable result on stdout
  bool quiet = false;  ///< no progress, no log below warnings
  int verbose = 0;
  std::vector<std::string> command_line{};  ///< as given, program name first
};

using Run = std::function<int()>;

struct Command {
  const char* name;
  const char* help;
  /// Adds options to `sub`; the returned function runs after parsing and answers the exit code.
  Run (*add)(CLI::App& sub, const Globals& globals);
};

struct Program {
  const char* name;   ///< "foxhunt"
  const char* about;  ///< one line
  const char* quiet;  ///< what -q leaves out
  std::span<const Command> commands;
};

/// Parses and runs one verb; the exit code.
int run_verb(const Program& program, int argc, char** argv);

/// What an error that is not one of ours says, and its exit code.
struct Unexpected {
  std::string text;
  ExitCode code = ExitCode::kFailure;
};

/// The exit code of `body`, Ctrl-C caught; an error that it throws is logged under `name`.
/// `explain`: for errors of libraries; null: their text and kFailure.
int guarded(const char* name, const std::function<int()>& body,
            Unexpected (*explain)(const std::exception&) = nullptr);

}  // namespace foxhunt::cli
