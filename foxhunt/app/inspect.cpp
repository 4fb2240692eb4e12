// foxhunt inspect: which parts of its state a trained model uses; with --prune, a run without the
// others.
#include "foxhunt/train/inspect.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/log.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::string run;
  std::string svg;
  std::string out;
  train::InspectOptions inspect;
  double bound = 0;
  bool overwrite = false;
};

int run_inspect(const Options& options, const Globals& globals) {
  const train::InspectReport report = train::inspect(options.run, options.inspect);
  fmt::print("{}", globals.json ? train::to_json(report) + "\n" : train::to_text(report));
  if (!options.svg.empty()) {
    write_file_atomic(options.svg, train::to_svg(report));
    log::info("picture in {}", options.svg);
  }
  return 0;
}

int run_prune(const Options& options, const Globals& globals) {
  const train::PruneReport report =
      train::prune(options.run, {.bound = options.bound,
                                 .out = options.out,
                                 .overwrite = options.overwrite,
                                 .measure = options.inspect,
                                 .command_line = globals.command_line});
  fmt::print("{}", globals.json ? train::to_json(report) + "\n" : train::to_text(report));
  return 0;
}

}  // namespace

Run add_inspect(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  sub.add_option("run", options->run, "run folder")->required()->check(CLI::ExistingDirectory);
  sub.add_option("--split", options->inspect.split, "part of the data to measure on")
      ->capture_default_str()
      ->check(CLI::IsMember({"train", "valid", "test"}));
  sub.add_option("--rows", options->inspect.rows, "measure on at most so many, the earliest")
      ->check(CLI::PositiveNumber);
  CLI::Option* svg = sub.add_option("--svg", options->svg, "write the picture to this file");
  CLI::Option* prune = sub.add_option(
      "--prune", options->bound,
      "cut as many state columns as let the mean validation loss rise by this at most (in nats for "
      "classification), and write a new run to --out");
  CLI::Option* out = sub.add_option("--out", options->out, "folder of the new run");
  prune->needs(out)->excludes(svg);
  out->needs(prune);
  sub.add_flag("--overwrite", options->overwrite, "an earlier run in --out may go")->needs(prune);
  add_device_option(sub, options->inspect.device);
  return [options, prune, &globals] {
    return prune->count() > 0 ? run_prune(*options, globals) : run_inspect(*options, globals);
  };
}

}  // namespace foxhunt::app
