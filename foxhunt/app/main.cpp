// foxhunt: trains Mamba-2 on futures data and says honestly how good it is. One verb a file of this
// room.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <new>
#include <string_view>

#include <CLI/CLI.hpp>

#include "foxhunt/app/beside.h"
#include "foxhunt/app/command.h"
#include "foxhunt/base/build_info.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/base/log.h"

namespace foxhunt::app {
namespace {

constexpr std::array kCommands{
    Command{"doctor", "what this machine is and can do", add_doctor},
    Command{"data", "look at and convert market data", add_data},
    Command{"train", "train a model from a configuration", add_train},
    Command{"evaluate", "score a run on rows it has not seen, beside baselines", add_evaluate},
    Command{"predict", "answer bar by bar with a trained model", add_predict},
    Command{"export", "a trained run as one file that serves, with its proof", add_export},
    Command{"serve", "answer a stream of market records in microseconds", add_handed_over},
    Command{"verify", "replay the golden rows of a bundle on this machine", add_handed_over},
    Command{"inspect", "what a trained model keeps in its state, and a smaller one", add_inspect},
    Command{"check", "the same rows through two back ends, and how far they differ", add_check},
    Command{"bench", "how fast this machine trains, beside LibTorch and the floor", add_bench},
    Command{"config", "show the resolved configuration, its keys and its schema", add_config},
};

/// The text of an error of LibTorch or std, without the stack that LibTorch adds.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

/// LibTorch has no type of its own for a failed allocation on the CPU: its text tells.
ExitCode code_of(const std::exception& error) {
  const std::string_view text = error.what();
  const bool memory = text.find("allocate memory") != std::string_view::npos ||
                      text.find("out of memory") != std::string_view::npos;
  return memory ? ExitCode::kMemory : ExitCode::kFailure;
}

int run(int argc, char** argv) {
  CLI::App app("foxhunt: Mamba-2 on futures data, with proof", "foxhunt");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("foxhunt {} ({})", version(), git_revision()));
  app.failure_message(CLI::FailureMessage::simple);
  app.fallthrough();
  Globals globals;
  globals.command_line.assign(argv, argv + argc);
  app.add_flag("--json", globals.json, "machine-readable result on standard output");
  app.add_flag("-q,--quiet", globals.quiet, "no progress, warnings and errors only");
  app.add_flag("-v,--verbose", globals.verbose, "more in the log");

  Run chosen;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    sub->fallthrough();
    Run runner = command.add(*sub, globals);
    sub->callback([&chosen, runner] { chosen = runner; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  }
  log::set_console_level(globals.quiet         ? log::Level::kWarn
                         : globals.verbose > 0 ? log::Level::kDebug
                                               : log::Level::kInfo);
  return chosen();
}

int fail(const char* what, ExitCode code) {
  log::error("foxhunt: {}", what);
  return static_cast<int>(code);
}

}  // namespace
}  // namespace foxhunt::app

int main(int argc, char** argv) {
  using foxhunt::ExitCode;
  foxhunt::catch_interrupts();
  try {
    if (foxhunt::app::is_verb_of_serving_program(argc, argv)) {
      foxhunt::app::run_serving_program(argc, argv);
    }
    return foxhunt::app::run(argc, argv);
  } catch (const foxhunt::Error& error) {
    return foxhunt::app::fail(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return foxhunt::app::fail("out of memory", ExitCode::kMemory);
  } catch (const std::exception& error) {
    return foxhunt::app::fail(foxhunt::app::first_line(error).c_str(),
                              foxhunt::app::code_of(error));
  }
}
