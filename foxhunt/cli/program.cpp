#include "foxhunt/cli/program.h"

#include <fmt/format.h>

#include <new>

#include <CLI/CLI.hpp>

#include "foxhunt/base/build_info.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/base/log.h"

namespace foxhunt::cli {
namespace {

int fail(const char* name, const std::string& what, ExitCode code) {
  log::error("{}: {}", name, what);
  return static_cast<int>(code);
}

}  // namespace

int run_verb(const Program& program, int argc, char** argv) {
  CLI::App app(fmt::format("{}: {}", program.name, program.about), program.name);
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       fmt::format("{} {} ({})", program.name, version(), git_revision()));
  app.failure_message(CLI::FailureMessage::simple);
  app.fallthrough();
  Globals globals;
  globals.command_line.assign(argv, argv + argc);
  app.add_flag("--json", globals.json, "machine-readable result on standard output");
  app.add_flag("-q,--quiet", globals.quiet, program.quiet);
  app.add_flag("-v,--verbose", globals.verbose, "more in the log");

  Run chosen;
  for (const Command& command : program.commands) {
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

int guarded(const char* name, const std::function<int()>& body,
            Unexpected (*explain)(const std::exception&)) {
  catch_interrupts();
  try {
    return body();
  } catch (const Error& error) {
    return fail(name, error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return fail(name, "out of memory", ExitCode::kMemory);
  } catch (const std::exception& error) {
    const Unexpected found = explain == nullptr ? Unexpected{.text = error.what()} : explain(error);
    return fail(name, found.text, found.code);
  }
}

}  // namespace foxhunt::cli
