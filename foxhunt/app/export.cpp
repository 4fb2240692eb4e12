// foxhunt export: a trained run as one file that serves, with the proof that it answers alike.
#include <fmt/format.h>

#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/json.h"
#include "foxhunt/experiments/lineage.h"
#include "foxhunt/exporter/exporter.h"
#include "foxhunt/ledger/ledger.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::string run;
  exporter::ExportOptions to;
  std::string ledger;
};

void print_text(const exporter::ExportReport& report) {
  fmt::print("{:<8}{:>10}{:>14}{:>14}{:>8}   {}\n", "weights", "us a step", "largest diff",
             "mean diff", "flips", "kernels");
  for (const exporter::Candidate& c : report.candidates) {
    if (c.refused.empty()) {
      fmt::print("{:<8}{:>10.2f}{:>14.2e}{:>14.2e}{:>8}   {}\n", to_string(c.form), c.step_us,
                 c.parity.max_difference, c.parity.mean_difference, c.parity.decision_flips,
                 c.kernels);
    } else {
      fmt::print("{:<8}refused: {}\n", to_string(c.form), c.refused);
    }
  }
  fmt::print(
      "\n{}: {} weights, {} KiB, sha256 {}\n{} records compared with LibTorch, {} golden rows\n",
      report.path.string(), to_string(report.form), report.file_bytes / 1024, report.id,
      report.records, report.golden_rows);
  fmt::print("leak proof: {}\n", report.leak_proof.empty() ? "unproven" : report.leak_proof);
}

void print_json(const exporter::ExportReport& report) {
  nlohmann::ordered_json out = {
      {"path", report.path.string()},
      {"id", report.id},
      {"weights", to_string(report.form)},
      {"bytes", report.file_bytes},
      {"records", report.records},
      {"golden_rows", report.golden_rows},
      {"leak_proof", report.leak_proof.empty() ? nlohmann::ordered_json(nullptr)
                                               : nlohmann::ordered_json(report.leak_proof)}};
  for (const exporter::Candidate& c : report.candidates) {
    out["candidates"].push_back({{"weights", to_string(c.form)},
                                 {"ok", c.refused.empty()},
                                 {"why", c.refused},
                                 {"step_us", c.step_us},
                                 {"rows", c.parity.rows},
                                 {"max_difference", c.parity.max_difference},
                                 {"mean_difference", c.parity.mean_difference},
                                 {"decision_flips", c.parity.decision_flips},
                                 {"kernels", c.kernels}});
  }
  fmt::print("{}\n", out.dump(2));
}

}  // namespace

Run add_export(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  sub.add_option("run", options->run, "run folder")->required()->check(CLI::ExistingDirectory);
  sub.add_option("-o,--out", options->to.out, "the bundle to write, as ES.fox")->required();
  sub.add_option("--weights", options->to.weights,
                 "form of the weights; auto: the fastest on this machine within its bound")
      ->check(CLI::IsMember({"auto", "fp32", "fp16", "bf16", "int8"}))
      ->capture_default_str();
  sub.add_option("--parity-bars", options->to.parity_bars,
                 "last bars of the data over which engine and trained model are compared")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000'000}))
      ->capture_default_str();
  sub.add_option("--golden-bars", options->to.golden_bars,
                 "last of them that travel in the bundle for verify")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->capture_default_str();
  sub.add_option("--data", options->to.data, "other files than those of the run")
      ->check(CLI::ExistingFile);
  sub.add_flag("--require-proof", options->to.require_proof,
               "refuse a run without a leak proof that speaks of it");
  add_ledger_option(sub, options->ledger);
  return [options, &globals] {
    const std::filesystem::path book = ledger::find_ledger(options->ledger);
    const exporter::ExportReport report = exporter::export_run(options->run, options->to);
    experiments::register_quietly(book, report.path, options->run);
    globals.json ? print_json(report) : print_text(report);
    return 0;
  };
}

}  // namespace foxhunt::app
