// foxhunt-serve: answers with a trained model, in a process that holds no LibTorch. One verb a file
// of this room.
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <new>

#include <CLI/CLI.hpp>

#include "foxhunt/base/build_info.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/base/log.h"
#include "foxhunt/serve_app/command.h"

namespace foxhunt::serve_app {
namespace {

constexpr std::array kCommands{
    Command{"serve", "answer a stream of market records, with a state that survives", add_serve},
    Command{"verify", "replay the golden rows of a bundle on this machine", add_verify},
    Command{"bench", "what a bundle answers in on this machine", add_bench},
};

int run(int argc, char** argv) {
  CLI::App app("foxhunt-serve: answers with a trained model", "foxhunt-serve");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       fmt::format("foxhunt-serve {} ({})", version(), git_revision()));
  app.failure_message(CLI::FailureMessage::simple);
  app.fallthrough();
  Globals globals;
  app.add_flag("--json", globals.json, "machine-readable result on standard output");
  app.add_flag("-q,--quiet", globals.quiet, "warnings and errors only");
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
  log::error("foxhunt-serve: {}", what);
  return static_cast<int>(code);
}

}  // namespace
}  // namespace foxhunt::serve_app

int main(int argc, char** argv) {
  using foxhunt::ExitCode;
  foxhunt::catch_interrupts();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of write(), not our end
  try {
    return foxhunt::serve_app::run(argc, argv);
  } catch (const foxhunt::Error& error) {
    return foxhunt::serve_app::fail(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return foxhunt::serve_app::fail("out of memory", ExitCode::kMemory);
  } catch (const std::exception& error) {
    return foxhunt::serve_app::fail(error.what(), ExitCode::kFailure);
  }
}
