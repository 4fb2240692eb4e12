// foxhunt launch: one verb in several processes on this machine.
#include "foxhunt/ranks/launch.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/error.h"

namespace foxhunt::app {
namespace {

struct Options {
  int size = 2;
  std::vector<std::string> words;
};

int run_launch(const Options& options, const Globals& globals) {
  ranks::LaunchOptions job;
  job.size = options.size;
  job.command.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  job.command.insert(job.command.end(), options.words.begin(), options.words.end());
  if (globals.json) job.command.emplace_back("--json");
  if (globals.quiet) job.command.emplace_back("--quiet");
  for (int i = 0; i < globals.verbose; ++i) job.command.emplace_back("--verbose");
  return ranks::launch(job);
}

}  // namespace

Run add_launch(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  sub.add_option("--nproc", options->size, "processes to start")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  sub.add_option("words", options->words, "behind --: the verb and its options")->required();
  sub.footer(
      "foxhunt launch --nproc 2 -- train --config configs/mamba2_es.toml\n"
      "The processes train one model to the same bits as one process would. Cores are shared out\n"
      "unless train.threads is set. On several machines: torchrun --no-python or srun, see\n"
      "docs/training.md.");
  return [options, &globals] { return run_launch(*options, globals); };
}

}  // namespace foxhunt::app
