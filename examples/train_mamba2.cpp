// Trains Mamba-2 on the ES sample, scores it on days it has not seen, and shows its first answers:
// a page over the library's torch-free door.
//
//   build/release/examples/train_mamba2 --epochs 5 [--test] [--device cpu|cuda[:i]] [--out DIR]
#include <fmt/format.h>

#include <cstdio>

#include <CLI/CLI.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/train/train.h"

namespace {

int run(int argc, char** argv) {
  foxhunt::train::ExperimentConfig config;
  config.name = "example";
  foxhunt::train::TrainOptions options{.command_line = {argv, argv + argc}};
  config.hyper.train.epochs = 5;

  CLI::App app("Mamba-2 on ES minute bars");
  app.add_option("--epochs", config.hyper.train.epochs)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--test", options.test, "two small epochs, everything exercised");
  app.add_option("--device", options.device, "cpu, cuda, cuda:INDEX")->capture_default_str();
  app.add_option("--out", options.out, "run folder; default: a new one below runs/");
  CLI11_PARSE(app, argc, argv);

  // What to learn from, what to learn, and which days are kept for the score.
  config.data.files = {"data/es-sample/es-ohlcv-1m.dbn.zst"};
  config.label.horizon = 10;
  config.split.train_end = "2013-12-01";
  config.split.valid_end = "2013-12-10";

  const auto trained = foxhunt::train::train(config, options);
  fmt::print("{} parameters, best epoch {}, validation loss {:.4f}\n", trained.parameters,
             trained.best_epoch, trained.best_valid_loss);

  const auto report =
      foxhunt::train::evaluate(trained.run, {.split = "test", .device = options.device});
  fmt::print("{}\n", foxhunt::evaluation::to_text(report));

  int shown = 0;
  foxhunt::train::predict(trained.run, {.data = config.data.files, .device = options.device},
                          [&shown](const std::string& line) {
                            if (shown++ < 3) fmt::print("{}\n", line);
                          });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  foxhunt::catch_interrupts();
  try {
    return run(argc, argv);
  } catch (const foxhunt::Error& error) {
    fmt::print(stderr, "train_mamba2: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
