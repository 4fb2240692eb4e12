// foxhunt walkforward: trained again and again while time goes on, one table over all folds.
#include <fmt/format.h>

#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/log.h"
#include "foxhunt/experiments/experiment_folder.h"
#include "foxhunt/experiments/walk_forward.h"
#include "foxhunt/ledger/ledger.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::vector<std::string> configs;
  std::vector<std::string> sets;
  std::string out;
  std::string ledger;
  experiments::WalkForwardOptions to;
};

int run_walk_forward(Options options, const Globals& globals) {
  train::ExperimentConfig config;
  load_experiment(config, options.configs, options.sets);
  options.to.out = options.out.empty() ? experiments::default_folder(config.name, "walkforward")
                                       : std::filesystem::path(options.out);
  options.to.ledger = ledger::find_ledger(options.ledger);
  options.to.progress = progress_mode(globals);
  options.to.command_line = globals.command_line;
  const experiments::WalkForwardReport report = experiments::walk_forward(config, options.to);
  fmt::print("{}\n", globals.json ? experiments::to_json(report) : experiments::to_text(report));
  log::info("everything in {}", report.folder.string());
  return 0;
}

}  // namespace

Run add_walkforward(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  sub.add_option("--config", options->configs, "TOML files, merged in order")
      ->required()
      ->check(CLI::ExistingFile);
  sub.add_option("--set", options->sets, "section.key=value, over the files, as walkforward.test=1")
      ->allow_extra_args(false);
  sub.add_option("--out", options->out,
                 "parent folder; default: a new one below runs/. One that holds a walk-forward of "
                 "the same configuration and data is gone on with");
  sub.add_flag("--overwrite", options->to.overwrite, "an earlier walk-forward in --out may go");
  sub.add_option("--proof", options->to.proof,
                 "leakproof.json of foxhunt features prove over the same [walkforward]; kept in "
                 "every fold's run");
  sub.add_flag("--require-proof", options->to.require_proof, "do not train without one");
  add_device_option(sub, options->to.device);
  add_ledger_option(sub, options->ledger);
  return [options, &globals] { return run_walk_forward(*options, globals); };
}

}  // namespace foxhunt::app
