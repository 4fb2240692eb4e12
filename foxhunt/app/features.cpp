// foxhunt features prove: that no feature, label, scale or split sees the future.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/proofs/prove.h"
#include "foxhunt/train/proof_subject.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::vector<std::string> configs;
  std::vector<std::string> sets;
  std::string out;
  std::string verify;
  proofs::ProveOptions prove;
};

constexpr int kLeak = static_cast<int>(ExitCode::kData);

int verify(const Options& options, const Globals& globals) {
  const bundle::LeakProof proof =
      bundle::parse_leak_proof(read_file(options.verify), options.verify);
  std::vector<std::string> other;
  if (!options.configs.empty()) {
    train::ExperimentConfig config;
    load_experiment(config, options.configs, options.sets);
    other = bundle::differences(proof.subject,
                                train::proof_subject(config, train::data_hashes(config)));
  }
  if (globals.json) {
    fmt::print("{}", proof.text);
  } else {
    fmt::print("{}: sealed {}, {}\n", options.verify, proof.sha256,
               proof.proven ? "proven" : "a leak was found");
    if (!proof.proven) fmt::print("{}\n", proof.first);
  }
  if (!other.empty()) {
    throw DataError(fmt::format("{}: speaks of something else than this configuration\n  {}",
                                options.verify, fmt::join(other, "\n  ")));
  }
  return proof.proven ? 0 : kLeak;
}

int prove(const Options& options, const Globals& globals) {
  if (options.configs.empty()) throw UsageError("--config is needed, or --verify FILE");
  train::ExperimentConfig config;
  load_experiment(config, options.configs, options.sets);
  const proofs::ProofReport report = proofs::prove(config, options.prove);
  const std::string file = to_json(report);
  if (!options.out.empty()) write_file_atomic(options.out, file);
  if (globals.json) {
    fmt::print("{}", file);
  } else {
    fmt::print("{}", to_text(report));
    if (!options.out.empty()) fmt::print("written {}\n", options.out);
    fmt::print("{}\n", report.proven() ? "proven" : "LEAK " + report.first());
  }
  return report.proven() ? 0 : kLeak;
}

}  // namespace

Run add_features(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  auto run = std::make_shared<Run>();
  sub.require_subcommand(1);
  CLI::App* prove_sub = sub.add_subcommand(
      "prove", "that nothing known at a time depends on what came later; exit 3 on a leak");
  prove_sub->fallthrough();
  prove_sub->add_option("--config", options->configs, "TOML files, merged in order")
      ->check(CLI::ExistingFile);
  prove_sub->add_option("--set", options->sets, "section.key=value, over the files")
      ->allow_extra_args(false);
  prove_sub->add_option("--out", options->out, "leakproof.json, for train --proof");
  prove_sub->add_option("--points", options->prove.points, "places at which the data are varied")
      ->check(CLI::Range(std::int64_t{4}, std::int64_t{100'000}))
      ->capture_default_str();
  prove_sub->add_option("--seed", options->prove.seed, "of all that is random")
      ->capture_default_str();
  prove_sub
      ->add_option("--verify", options->verify,
                   "instead: the seal of such a file and, with --config, that it speaks of it")
      ->check(CLI::ExistingFile);
  prove_sub->callback([=, &globals] {
    *run = [options, &globals] {
      return options->verify.empty() ? prove(*options, globals) : verify(*options, globals);
    };
  });
  return [run] { return (*run)(); };
}

}  // namespace foxhunt::app
