// foxhunt-bench: `foxhunt bench step` alone, without LibTorch.
#include <fmt/format.h>

#include <exception>
#include <new>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/base/log.h"

namespace foxhunt::app {
namespace {

int run(int argc, char** argv) {
  CLI::App app("foxhunt-bench: what a bundle answers in on this machine", "foxhunt-bench");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.fallthrough();
  Globals globals;
  globals.command_line.assign(argv, argv + argc);
  app.add_flag("--json", globals.json, "machine-readable result on standard output");
  app.add_flag("-q,--quiet", globals.quiet, "no progress, warnings and errors only");
  CLI::App* step = app.add_subcommand("step", "one step: percentiles, floor, what must be zero");
  step->fallthrough();
  const Run chosen = add_bench_step(*step, globals);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  }
  log::set_console_level(globals.quiet ? log::Level::kWarn : log::Level::kInfo);
  return chosen();
}

int fail(const char* what, ExitCode code) {
  log::error("foxhunt-bench: {}", what);
  return static_cast<int>(code);
}

}  // namespace
}  // namespace foxhunt::app

int main(int argc, char** argv) {
  using foxhunt::ExitCode;
  foxhunt::catch_interrupts();
  try {
    return foxhunt::app::run(argc, argv);
  } catch (const foxhunt::Error& error) {
    return foxhunt::app::fail(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return foxhunt::app::fail("out of memory", ExitCode::kMemory);
  } catch (const std::exception& error) {
    return foxhunt::app::fail(error.what(), ExitCode::kFailure);
  }
}
