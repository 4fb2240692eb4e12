// foxhunt resume: goes on with a run that was cut off.
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/ledger/ledger.h"
#include "foxhunt/train/train.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::string run;
  std::string ledger;
  train::ResumeOptions resume;
};

int run_resume(Options options, const Globals& globals) {
  options.resume.command_line = globals.command_line;
  options.resume.progress = progress_mode(globals);
  const std::filesystem::path book = ledger::find_ledger(options.ledger);
  const train::TrainReport report = train::resume(options.run, options.resume);
  record_run(report, book);
  print_report(report, globals);
  return 0;
}

}  // namespace

Run add_resume(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  train::ResumeOptions& resume = options->resume;
  sub.add_option("run", options->run, "run folder; it may have been moved")->required();
  sub.add_flag(
      "--accept-changes", resume.accept_changes,
      "go on although data, configuration or program have changed; resumes.jsonl of the run "
      "then says so");
  sub.add_option("--data", resume.data, "where the run's data files are now, in the same order");
  sub.add_option("--device", resume.device,
                 "cpu, cuda or cuda:INDEX; default: the one the run was begun on. Another device "
                 "rounds otherwise");
  sub.add_option("--threads", resume.threads,
                 "instead of train.threads; with native kernels no result depends on it")
      ->check(CLI::PositiveNumber);
  sub.add_option("--memory-budget", resume.memory_budget,
                 "instead of train.memory_budget, as 4GB; how a batch is cut stays as it was");
  add_ledger_option(sub, options->ledger);
  add_pause_option(sub, resume.pause_after_epoch);
  sub.footer(
      "Goes on from the newest complete checkpoint to the same bits as if nothing had happened.\n"
      "A damaged checkpoint is named and the one before it taken. Of a run that has ended, the\n"
      "result is shown.");
  return [options, &globals] { return run_resume(*options, globals); };
}

}  // namespace foxhunt::app
