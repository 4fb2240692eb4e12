// foxhunt tune: looks for better settings by the validation loss.
#include "foxhunt/experiments/tune.h"

#include <fmt/format.h>

#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/log.h"
#include "foxhunt/experiments/experiment_folder.h"
#include "foxhunt/ledger/ledger.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::vector<std::string> sets;
  std::string out;
  std::string ledger;
  std::int64_t trials = 0;
  experiments::TuneOptions to;
};

int run_tune(Options options, const Globals& globals) {
  train::ExperimentConfig config;
  load_experiment(config, options.to.config_files, options.sets);
  if (options.trials > 0) config.tune.trials = options.trials;
  options.to.out = options.out.empty() ? experiments::default_folder(config.name, "tune")
                                       : std::filesystem::path(options.out);
  options.to.ledger = ledger::find_ledger(options.ledger);
  const experiments::TuneReport report = experiments::tune(config, options.to);
  fmt::print("{}\n", globals.json ? experiments::to_json(report) : experiments::to_text(report));
  log::info("everything in {}", report.folder.string());
  return 0;
}

}  // namespace

Run add_tune(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  sub.add_option("--config", options->to.config_files,
                 "TOML files, merged in order; [tune] says "
                 "what is tried")
      ->required()
      ->check(CLI::ExistingFile);
  sub.add_option("--set", options->sets, "section.key=value, over the files")
      ->allow_extra_args(false);
  sub.add_option("--trials", options->trials, "instead of tune.trials")->check(CLI::PositiveNumber);
  sub.add_option("--parallel", options->to.parallel,
                 "trials at once, each a process; they share the cores. The result is the same")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}))
      ->capture_default_str();
  sub.add_option("--out", options->out,
                 "folder of the search; default: a new one below runs/. One that holds a search of "
                 "the same configuration is gone on with, wherever it was cut off");
  sub.add_flag("--overwrite", options->to.overwrite, "an earlier search in --out may go");
  add_device_option(sub, options->to.device);
  add_ledger_option(sub, options->ledger);
  return [options, &globals] { return run_tune(*options, globals); };
}

}  // namespace foxhunt::app
