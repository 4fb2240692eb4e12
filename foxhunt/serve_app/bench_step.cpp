// foxhunt bench step: what a bundle answers in on this machine.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/log.h"
#include "foxhunt/contract/peer_rows.h"
#include "foxhunt/contract/preset.h"
#include "foxhunt/contract/step_bench.h"
#include "foxhunt/contract/write_contract.h"
#include "foxhunt/kernels/step/step_kernels.h"
#include "foxhunt/latency/count_allocations.h"
#include "foxhunt/latency/pin.h"
#include "foxhunt/serve_app/command.h"

namespace foxhunt::serve_app {
namespace {

constexpr int kFifoPriority = 50;
constexpr std::int64_t kPeerRows = 256;

struct Options {
  std::string bundle;
  std::string preset;
  std::uint64_t seed = 1;
  std::string save;
  std::string peer_rows;
  std::vector<std::string> weights;
  std::vector<std::string> kernels;
  std::vector<std::string> timed{"step", "event", "answer"};
  int pin = -1;
  bool fifo = false;
  bool full = false;
  bool write = false;
  contract::StepBenchOptions bench;
};

std::vector<bundle::WeightForm> forms_of(const std::vector<std::string>& names) {
  using bundle::WeightForm;
  if (names == std::vector<std::string>{"all"})
    return {WeightForm::kF32, WeightForm::kF16, WeightForm::kBF16, WeightForm::kI8};
  std::vector<WeightForm> forms;
  forms.reserve(names.size());
  for (const std::string& name : names) forms.push_back(bundle::weight_form_of(name));
  return forms;
}

std::vector<std::string> tables_of(const std::vector<std::string>& names) {
  if (names.empty()) return {""};
  if (names != std::vector<std::string>{"all"}) return names;
  std::vector<std::string> tables;
  for (const kernels::StepKernels* table : kernels::built_step_kernels()) {
    if (table->runs_here()) tables.emplace_back(table->name);
  }
  return tables;
}

void ask_for_quiet(Options& options) {
  const auto note = [&](const latency::Grant& grant) {
    options.bench.grants.push_back(grant.text);
  };
  note(latency::pin_to_core(options.pin >= 0 ? options.pin : latency::current_core()));
  if (options.fifo) note(latency::use_fifo(kFifoPriority));
}

int run_step(Options& options, const Globals& globals) {
  if (options.bundle.empty() == options.preset.empty())
    throw UsageError("bench step takes a bundle or --preset, one of the two");
  if (options.write && options.bundle.empty())
    throw UsageError(
        "--write puts the contract into a bundle; a preset is none (--save makes one)");
  const contract::ReadBundle read = [&]() -> bundle::Bundle {
    return options.preset.empty() ? bundle::read_bundle(options.bundle)
                                  : contract::preset_bundle(options.preset, options.seed);
  };
  const bundle::Bundle bundle = read();
  if (!options.save.empty()) {
    if (options.preset.empty()) throw UsageError("--save keeps the model of a preset");
    bundle::write_bundle(options.save, bundle);
  }
  if (!options.peer_rows.empty())
    write_file_atomic(options.peer_rows, contract::peer_rows_json(bundle, kPeerRows));
  contract::StepBenchOptions& bench = options.bench;
  std::erase(bench.gaps_us, 0.0);
  bench.forms = forms_of(options.weights);
  bench.kernels = tables_of(options.kernels);
  bench.timed.clear();
  for (const std::string& name : options.timed) bench.timed.push_back(contract::timed_of(name));
  if (!options.preset.empty()) bench.loads = 0;  // there is no file to load
  bench.allocations = latency::thread_allocations;
  if (!globals.quiet) bench.say = [](const std::string& what) { log::info("{}", what); };
  ask_for_quiet(options);

  const std::string name = options.preset.empty()
                               ? std::filesystem::path(options.bundle).filename().string()
                               : options.preset;
  const contract::Report report =
      contract::bench_step(bundle, name, bench, contract::real_instruments(read, bench));
  fmt::print("{}\n", globals.json ? contract::to_json(report) : contract::to_text(report));
  if (options.full && !globals.json) {
    std::vector<latency::LatencyRow> rows;
    for (const contract::FormReport& form : report.forms) {
      for (const contract::ContractRow& row : form.rows) {
        rows.push_back(row.row);
        rows.back().model = contract::to_string(row.timed);
      }
    }
    fmt::print("{}\n", latency::table_text(rows));
  }
  if (options.write) {
    const std::string id = contract::write_contract(options.bundle, report);
    if (!globals.quiet) log::info("{}: written, sha256 {}", options.bundle, id);
  }
  return static_cast<int>(report.kept() ? ExitCode::kOk : ExitCode::kFailure);
}

void add_measuring(CLI::App& sub, contract::StepBenchOptions& bench) {
  sub.add_option("--seconds", bench.seconds, "of each timed loop")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  sub.add_option("--warm", bench.warm_seconds, "seconds of steps before the first loop")
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  sub.add_option("--control", bench.control_seconds,
                 "seconds of the hiccup control before and after each loop")
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  sub.add_option("--floor", bench.floor_seconds, "seconds of each streaming floor; four a form")
      ->check(CLI::Range(0.01, 60.0))
      ->capture_default_str();
  sub.add_option("--gaps", bench.gaps_us,
                 "microseconds between events of the spaced schedules; 0: no such schedule")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1e7))
      ->capture_default_str();
  sub.add_option("--sessions", bench.sessions, "that take turns, for cold states; 0: no such row")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  sub.add_option("--loads", bench.loads, "of the bundle, each in a process of its own")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  sub.add_flag("--keep-warm", bench.keep_warm, "spaced schedules: steps of another stream between");
}

}  // namespace

Run add_bench(CLI::App& bench, const Globals& globals) {
  bench.require_subcommand(1);
  CLI::App& sub = *bench.add_subcommand("step", "one step: percentiles, floor, what must be zero");
  sub.fallthrough();
  auto options = std::make_shared<Options>();
  sub.add_option("bundle", options->bundle, "of foxhunt export, as ES.fox")
      ->check(CLI::ExistingFile);
  sub.add_option("--preset", options->preset, "a model with random weights instead")
      ->check(CLI::IsMember(contract::preset_names()));
  sub.add_option("--seed", options->seed, "of the preset's weights")->capture_default_str();
  sub.add_option("--save", options->save, "also writes the preset's model as a bundle");
  sub.add_option("--peer-rows", options->peer_rows,
                 "writes rows and answers by which bench/peers/step checks its programs");
  sub.add_option("--weights", options->weights,
                 "forms: fp32, fp16, bf16, int8, or all; by default the bundle's own")
      ->delimiter(',');
  sub.add_option("--kernels", options->kernels,
                 "tables: avx512, avx2, scalar, or all; by default the machine's")
      ->delimiter(',');
  sub.add_option("--timed", options->timed,
                 "step: features in; event: record in; answer: record in, state written behind")
      ->delimiter(',')
      ->capture_default_str();
  add_measuring(sub, options->bench);
  sub.add_option("--pin", options->pin, "core; by default the one it runs on")
      ->check(CLI::Range(0, 4095));
  sub.add_flag("--fifo", options->fifo, "real-time priority, where the system allows it");
  sub.add_flag("--full", options->full, "also everything that was measured, a column a row");
  sub.add_flag("--write", options->write, "puts the contract into the bundle");
  return [options, &globals] { return run_step(*options, globals); };
}

}  // namespace foxhunt::serve_app
