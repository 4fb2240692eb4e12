// foxhunt evaluate: how good a run is on rows it has not seen, beside baselines on the same rows.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/ledger/ledger.h"
#include "foxhunt/train/train.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::string run;
  train::EvaluateOptions evaluate;
  std::string predictions;
  std::string ledger;
};

int run_evaluate(Options options, const Globals& globals) {
  options.evaluate.progress = progress_mode(globals);
  options.evaluate.predictions = options.predictions;
  options.evaluate.ledger = ledger::find_ledger(options.ledger);
  const evaluation::EvaluationReport report = train::evaluate(options.run, options.evaluate);
  fmt::print("{}\n", globals.json ? evaluation::to_json(report) : evaluation::to_text(report));
  print_page(options.run, globals);
  return 0;
}

}  // namespace

Run add_evaluate(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  sub.add_option("run", options->run, "run folder")->required()->check(CLI::ExistingDirectory);
  sub.add_option("--split", options->evaluate.split, "part of the data")
      ->capture_default_str()
      ->check(CLI::IsMember({"train", "valid", "test"}));
  sub.add_flag("--baselines", options->evaluate.baselines,
               "also train a GRU of like size on the training rows");
  sub.add_option("--data", options->evaluate.data, "files instead of those of the run");
  sub.add_option("--predictions", options->predictions, "write one JSON line a row to this file");
  add_ledger_option(sub, options->ledger);
  add_device_option(sub, options->evaluate.device);
  return [options, &globals] { return run_evaluate(*options, globals); };
}

}  // namespace foxhunt::app
