// foxhunt estimate: what memory a training run will need, part by part, before it begins.
#include "foxhunt/train/memory/estimate.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/progress.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/train/memory/byte_size.h"
#include "foxhunt/train/memory/memory_error.h"
#include "foxhunt/train/memory/planner.h"

namespace foxhunt::app {
namespace {

/// Files up to here are read for their rows.
constexpr std::int64_t kMostBytes = 64LL << 20;

struct Options {
  std::vector<std::string> configs;
  std::vector<std::string> sets;
  std::string device = "cpu";
  std::string budget = "0";
  std::int64_t rows = 0;
};

int run_estimate(const Options& options, const Globals& globals) {
  train::ExperimentConfig config;
  load_experiment(config, options.configs, options.sets);
  // The device is not opened: its table can be asked for where there is none.
  const bool cuda = nn::parse_device(options.device).kind == nn::DeviceKind::kCuda;
  const train::DataFacts data = train::data_facts(config, options.rows, kMostBytes);
  const train::Estimator estimate = [&](const train::ExperimentConfig& c) {
    return train::estimate_memory(c, 0, data, cuda);
  };
  config.hyper.train.memory_budget = options.budget;
  const std::int64_t budget = train::parse_byte_size(options.budget);
  if (budget == 0) {
    const train::MemoryEstimate e = estimate(config);
    fmt::print("{}", globals.json ? train::to_json(e) + "\n" : train::to_text(e));
    return 0;
  }
  const train::MemoryPlan plan = train::plan_memory(config, budget, estimate);
  if (globals.json) {
    fmt::print("{}\n", train::to_json(plan.estimate));
  } else {
    fmt::print("{}\n{}", plan.text, train::to_text(plan.estimate));
  }
  return 0;
}

}  // namespace

Run add_estimate(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  sub.add_option("--config", options->configs, "TOML files, merged in order")
      ->required()
      ->check(CLI::ExistingFile);
  sub.add_option("--set", options->sets, "section.key=value, over the files")
      ->allow_extra_args(false);
  sub.add_option("--device", options->device,
                 "cpu or cuda; a GPU need not be there to be estimated for")
      ->capture_default_str();
  sub.add_option("--budget", options->budget,
                 "4GB, 512MiB or bytes: what `train --memory-budget` would choose to fit it; exit "
                 "code 4 where nothing fits");
  sub.add_option(
         "--rows", options->rows,
         "rows of all data files, instead of counting them; files over 64 MiB are not read, "
         "and 100000 rows in sessions of 1380 are assumed")
      ->check(CLI::PositiveNumber);
  return [options, &globals] { return run_estimate(*options, globals); };
}

}  // namespace foxhunt::app
