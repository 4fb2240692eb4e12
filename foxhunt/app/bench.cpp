// foxhunt bench: how fast it is on this machine, beside what else there is and beside the floor.
#include "foxhunt/train/bench.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/bench_dbn.h"
#include "foxhunt/app/command.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/base/progress.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/train/bench_train/bench_train.h"
#include "foxhunt/train/memory/estimate.h"

namespace foxhunt::app {
namespace {

using train::SsdBenchRow;

std::string bytes_or_unknown(std::int64_t bytes) { return bytes < 0 ? "?" : format_bytes(bytes); }

nlohmann::ordered_json json_of(const SsdBenchRow& r) {
  const auto bytes = [](std::int64_t n) -> nlohmann::ordered_json {
    if (n < 0) return nullptr;
    return n;
  };
  return {{"shape", r.shape},
          {"threads", r.threads},
          {"precision", r.precision},
          {"kernels", r.kernels},
          {"lanes", r.lanes},
          {"parameters", r.parameters},
          {"native_ms", r.native.median},
          {"native_ms_least", r.native.least},
          {"native_ms_most", r.native.most},
          {"aten_ms", r.aten.median},
          {"aten_ms_least", r.aten.least},
          {"aten_ms_most", r.aten.most},
          {"floor_ms", r.floor.median},
          {"floor_ms_least", r.floor.least},
          {"floor_ms_most", r.floor.most},
          {"tokens_per_s", r.tokens_per_s},
          {"aten_over_native", r.aten.median / r.native.median},
          {"native_over_floor", r.native.median / r.floor.median},
          {"native_peak_bytes", bytes(r.native_peak_bytes)},
          {"aten_peak_bytes", bytes(r.aten_peak_bytes)},
          {"native_loss", r.native_loss},
          {"aten_loss", r.aten_loss}};
}

void print_row(const SsdBenchRow& r) {
  fmt::print(
      "{:<7} {:>7} {:>5}  {:>8.2f} {:>17}  {:>8.2f}  {:>7.2f}  {:>9.0f} {:>6.2f}x {:>6.2f}x"
      "  {:>9} {:>9}\n",
      r.shape, r.threads, r.precision, r.native.median,
      fmt::format("[{:.2f}, {:.2f}]", r.native.least, r.native.most), r.aten.median, r.floor.median,
      r.tokens_per_s, r.aten.median / r.native.median, r.native.median / r.floor.median,
      bytes_or_unknown(r.native_peak_bytes), bytes_or_unknown(r.aten_peak_bytes));
  std::fflush(stdout);
}

int run_ssd(const train::SsdBenchOptions& options, const Globals& globals) {
  if (!globals.json) {
    fmt::print("{}; training step, milliseconds, median of {} rounds\n", this_machine().cpu_model,
               options.repeats);
    fmt::print("{:<7} {:>7} {:>5}  {:>8} {:>17}  {:>8}  {:>7}  {:>9} {:>7} {:>7}  {:>9} {:>9}\n",
               "shape", "threads", "type", "native", "[least, most]", "aten", "floor", "tokens/s",
               "aten/n", "n/floor", "peak", "aten peak");
  }
  const auto rows = train::bench_ssd(options, [&](const SsdBenchRow& row) {
    if (!globals.json) print_row(row);
  });
  if (globals.json) {
    nlohmann::ordered_json out;
    out["cpu"] = this_machine().cpu_model;
    out["repeats"] = options.repeats;
    for (const SsdBenchRow& row : rows) out["rows"].push_back(json_of(row));
    fmt::print("{}\n", out.dump(2));
  }
  return 0;
}

int run_gemm(std::int64_t repeats, const Globals& globals) {
  const auto rows = train::bench_gemm(repeats);
  nlohmann::ordered_json out;
  out["cpu"] = this_machine().cpu_model;
  if (!globals.json)
    fmt::print("{}; GFLOP/s, median of {}\n{:<26} {:>16}", this_machine().cpu_model, repeats,
               "product", "m x n x k");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [shape, gflops] = rows[i];
    if (!globals.json && i == 0) {
      for (const auto& [name, value] : gflops) fmt::print(" {:>8}", name);
      fmt::print("\n");
    }
    nlohmann::ordered_json row{
        {"product", shape.name}, {"m", shape.m}, {"n", shape.n}, {"k", shape.depth}};
    if (!globals.json) {
      fmt::print("{:<26} {:>16}", shape.name,
                 fmt::format("{} x {} x {}", shape.m, shape.n, shape.depth));
    }
    for (const auto& [name, value] : gflops) {
      row["gflops"][name] = value;
      if (!globals.json) fmt::print(" {:>8.1f}", value);
    }
    if (!globals.json) fmt::print("\n");
    out["rows"].push_back(row);
  }
  if (globals.json) fmt::print("{}\n", out.dump(2));
  return 0;
}

struct TrainOptions {
  std::vector<std::string> configs;
  std::vector<std::string> sets;
  std::string out;
  std::string symbols = "4";
  std::string bar;
  std::string from;
  double price = 0;
  train::TrainBenchOptions bench;
};

/// Bytes that a run with the settings of a case would take, rows assumed.
std::function<std::int64_t(const train::BenchCase&)> estimator(
    const train::ExperimentConfig& config) {
  return [config, data = train::data_facts(config, 0, 0)](const train::BenchCase& which) {
    const bool cuda = nn::parse_device(which.device).kind == nn::DeviceKind::kCuda;
    return train::estimate_memory(which.applied_to(config), 0, data, cuda).fullest().total;
  };
}

int run_train(TrainOptions options, bool priced, const Globals& globals) {
  train::ExperimentConfig config;
  load_experiment(config, options.configs, options.sets);
  train::TrainBenchOptions& bench = options.bench;
  bench.out = options.out.empty() ? "runs/bench-train" : options.out;
  bench.task.symbols = train::parse_symbols(options.symbols);
  bench.task.bar_seconds =
      options.bar.empty() ? config.features.bar_seconds : train::parse_bar(options.bar);
  if (bench.task.epochs == 0) bench.task.epochs = config.hyper.train.epochs;
  if (!options.from.empty()) bench.task.from = parse_date(options.from);
  if (priced) bench.price_per_hour = options.price;
  bench.progress = progress_mode(globals);
  bench.estimate = estimator(config);
  const train::BenchReport report = train::bench_train(config, bench);
  fmt::print("{}", globals.json ? to_json(report) : to_markdown(report));
  if (!globals.json) fmt::print("\nfiles in {}\n", bench.out.string());
  return 0;
}

Run add_train_bench(CLI::App& train, const Globals& globals) {
  auto options = std::make_shared<TrainOptions>();
  train::TrainBenchOptions& bench = options->bench;
  bench.task.epochs = 0;
  const std::map<std::string, double> seconds{{"s", 1}, {"m", 60}, {"h", 3600}};
  train.fallthrough();
  train.add_option("--config", options->configs, "TOML files of the experiment; default: built in")
      ->check(CLI::ExistingFile);
  train.add_option("--set", options->sets, "section.key=value, over the files")
      ->allow_extra_args(false);
  train
      .add_option("--out", options->out,
                  "folder of bench-train.json, .md and .html; the same command goes on there where "
                  "one before was cut off; default: runs/bench-train")
      ->type_name("FOLDER");
  train.add_flag("--fresh", bench.fresh, "measure anew what is in the folder");
  train.add_flag("--short", bench.brief, "fewer batches, wider intervals: minutes");
  train
      .add_option("--budget", bench.budget_seconds,
                  "time for all of it: 90s, 30m, 2h; default 30m, 5m with --short")
      ->transform(CLI::AsNumberWithUnit(seconds, CLI::AsNumberWithUnit::UNIT_OPTIONAL))
      ->check(CLI::PositiveNumber);
  train.add_option("--devices", bench.devices, "cpu, cuda:0, …; default: the CPU and every GPU")
      ->delimiter(',');
  train.add_option("--precision", bench.precisions, "fp32, bf16")
      ->delimiter(',')
      ->capture_default_str();
  train.add_option("--kernels", bench.kernels, "native, aten")
      ->delimiter(',')
      ->capture_default_str();
  train
      .add_option("--batches", bench.batches,
                  "windows a step; default: powers of two and the configuration's own")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000));
  train
      .add_option("--most-batch", bench.most_batch,
                  "largest of the powers of two; default 256, 64 with --short")
      ->check(CLI::Range(1, 1'000'000));
  train
      .add_option("--memory", bench.memory_bytes,
                  "memory of a device to stay in, as 4GB; default: 80 % of what is free")
      ->transform(CLI::AsSizeValue(false));
  train
      .add_option("--width", bench.target_share,
                  "a setting is done when its interval is narrower than this share; default 0.05, "
                  "0.1 with --short")
      ->check(CLI::Range(0.001, 1.0));
  train
      .add_option("--symbols", options->symbols,
                  "products of the training, or how many of ES, NQ, ZN, 6E, …")
      ->capture_default_str();
  train.add_option("--days", bench.task.days, "calendar days of it")
      ->capture_default_str()
      ->check(CLI::Range(1, 5000));
  train.add_option("--from", options->from, "its first day; default 2024-01-02");
  train.add_option("--bar", options->bar, "length of a bar, 1m, 30s; default: the configuration's");
  train.add_option("--epochs", bench.task.epochs, "default: the configuration's")
      ->check(CLI::Range(1, 1'000'000));
  CLI::Option* price =
      train.add_option("--price-per-hour", options->price, "of this machine, in any currency")
          ->check(CLI::NonNegativeNumber);
  return [options, price, &globals] { return run_train(*options, price->count() > 0, globals); };
}

}  // namespace

Run add_bench(CLI::App& sub, const Globals& globals) {
  sub.require_subcommand(1);
  auto options = std::make_shared<train::SsdBenchOptions>();
  CLI::App* ssd = sub.add_subcommand(
      "ssd", "a training step: native kernels, LibTorch's operations, matrix products alone");
  ssd->fallthrough();
  ssd->add_option("--shape", options->shapes, "hft, middle, layer; all by default")->delimiter(',');
  ssd->add_option("--threads", options->threads, "numbers of threads")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  ssd->add_option("--precision", options->precisions, "fp32, bf16")
      ->delimiter(',')
      ->capture_default_str();
  ssd->add_option("--repeats", options->repeats, "timed rounds")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  ssd->add_flag("--native-only", options->native_only, "nothing else, for profilers");
  ssd->add_option("--lanes", options->lanes, "slices of the batch; 0: 8")
      ->check(CLI::Range(0, 1024));
  CLI::App* gemm = sub.add_subcommand(
      "gemm", "the matrix products of a step, by every kernel table and by LibTorch's library");
  gemm->fallthrough();
  auto repeats = std::make_shared<std::int64_t>(201);
  gemm->add_option("--repeats", *repeats, "timed rounds")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  CLI::App* train = sub.add_subcommand(
      "train", "what a training takes and costs: every device, precision, kernel path and batch");
  const Run train_run = add_train_bench(*train, globals);
  CLI::App* dbn = sub.add_subcommand(
      "dbn", "decoding market data: beside zstd alone and the official decoder, one core");
  const Run dbn_run = add_dbn_bench(*dbn, globals);
  // For the list in --help: main() hands this one over before it parses.
  sub.add_subcommand("step", "what a bundle answers in: percentiles, floor, what must be zero");
  return [options, repeats, gemm, train, train_run, dbn, dbn_run, &globals] {
    if (train->parsed()) return train_run();
    if (dbn->parsed()) return dbn_run();
    return gemm->parsed() ? run_gemm(*repeats, globals) : run_ssd(*options, globals);
  };
}

}  // namespace foxhunt::app
