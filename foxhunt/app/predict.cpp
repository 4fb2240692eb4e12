// foxhunt predict: streams bars through a trained model, one JSON line a prediction on standard
// output.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/base/log.h"
#include "foxhunt/cli/csv_options.h"
#include "foxhunt/train/train.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::string run;
  train::PredictOptions predict;
};

int run_predict(const Options& options) {
  const train::PredictReport report =
      train::predict(options.run, options.predict, [](const std::string& line) {
        fmt::print("{}\n", line);
        if (std::ferror(stdout) != 0) throw IoError("standard output cannot be written");
        if (interrupted()) throw InterruptedError("interrupted; every line above is complete");
      });
  log::info("{} bars, {} predictions, {:.1f} us each (p50), {:.1f} us (p99)", report.bars,
            report.predictions, report.p50_us, report.p99_us);
  if (!report.dropped.empty()) log::info("{}", report.dropped);
  return 0;
}

}  // namespace

Run add_predict(CLI::App& sub, const Globals&) {
  auto options = std::make_shared<Options>();
  sub.add_option("run", options->run, "run folder")->required()->check(CLI::ExistingDirectory);
  sub.add_option("--data", options->predict.data, "DBN or CSV files, in the order of time")
      ->required()
      ->check(CLI::ExistingFile);
  sub.add_option("--symbol", options->predict.symbol, "one contract of the files, as ESZ3");
  add_device_option(sub, options->predict.device);
  cli::add_csv_options(sub, options->predict.read.csv);
  return [options] { return run_predict(*options); };
}

}  // namespace foxhunt::app
