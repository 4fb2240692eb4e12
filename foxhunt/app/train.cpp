// foxhunt train: from a configuration to a run folder.
#include "foxhunt/train/train.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/file.h"
#include "foxhunt/config/config.h"
#include "foxhunt/experiments/lineage.h"
#include "foxhunt/ledger/ledger.h"
#include "foxhunt/train/train_report.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::vector<std::string> configs;
  std::vector<std::string> sets;
  std::string out;
  std::int64_t epochs = 0;
  std::int64_t seed = -1;
  std::string kernels;
  std::string memory_budget;
  std::string ledger;
  train::TrainOptions train;
};

int run_train(Options options, const Globals& globals) {
  train::ExperimentConfig config;
  load_experiment(config, options.configs, options.sets);
  if (options.epochs > 0) config.hyper.train.epochs = options.epochs;
  if (options.seed >= 0) config.hyper.train.seed = options.seed;
  if (!options.kernels.empty()) {
    config.hyper.train.kernels =
        options.kernels == "aten" ? nn::Kernels::kAten : nn::Kernels::kNative;
  }
  if (!options.memory_budget.empty()) config.hyper.train.memory_budget = options.memory_budget;
  options.train.out = options.out;
  for (const std::string& file : options.configs) options.train.config_text += read_file(file);
  options.train.command_line = globals.command_line;
  options.train.progress = progress_mode(globals);
  const std::filesystem::path book = ledger::find_ledger(options.ledger);
  const train::TrainReport report = train::train(config, options.train);
  record_run(report, book);
  print_report(report, globals);
  return 0;
}

}  // namespace

void record_run(const train::TrainReport& report, const std::filesystem::path& ledger) {
  if (report.rank == 0 && report.stopped != "paused")
    experiments::register_quietly(ledger, report.run);
}

void print_report(const train::TrainReport& report, const Globals& globals) {
  if (report.rank != 0) return;
  if (globals.json) {
    fmt::print("{}\n", train::to_json(report));
    return;
  }
  fmt::print("{} after {} epochs, {} steps in {}; best epoch {} with validation loss {:.4f}\n",
             report.stopped, report.epochs, report.steps, format_duration(report.seconds),
             report.best_epoch, report.best_valid_loss);
  fmt::print("weights {}\nrun     {}\n", report.weights_sha256.substr(0, 16), report.run.string());
  if (report.stopped == "paused")
    fmt::print("go on with  foxhunt resume {}\n", report.run.string());
  print_page(report.run, globals);
}

Run add_train(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  sub.add_option("--config", options->configs, "TOML files, merged in order")
      ->required()
      ->check(CLI::ExistingFile);
  sub.add_option("--set", options->sets, "section.key=value, over the files")
      ->allow_extra_args(false);
  add_device_option(sub, options->train.device);
  sub.add_option("--epochs", options->epochs, "instead of train.epochs")
      ->check(CLI::PositiveNumber);
  sub.add_option("--seed", options->seed, "instead of train.seed")->check(CLI::NonNegativeNumber);
  sub.add_option("--kernels", options->kernels, "instead of train.kernels: native or aten")
      ->check(CLI::IsMember({"native", "aten"}));
  sub.add_option(
      "--memory-budget", options->memory_budget,
      "instead of train.memory_budget: 4GB, 512MiB or bytes; exit code 4 where it does not "
      "suffice");
  sub.add_flag("--test", options->train.test, "two small epochs, everything exercised");
  sub.add_option("--proof", options->train.proof,
                 "leakproof.json of foxhunt features prove; refused where it speaks of other data, "
                 "features, labels or splits");
  sub.add_flag("--require-proof", options->train.require_proof, "do not train without one");
  sub.add_option("--out", options->out, "run folder; default: a new one below runs/");
  sub.add_flag("--overwrite", options->train.overwrite, "an earlier run in --out may go");
  add_pause_option(sub, options->train.pause_after_epoch);
  add_ledger_option(sub, options->ledger);
  sub.footer([] {
    train::ExperimentConfig defaults;
    return "Keys of the configuration, for --set and the file:\n" +
           config::help_text(config::fields_of(defaults));
  });
  return [options, &globals] { return run_train(*options, globals); };
}

}  // namespace foxhunt::app
