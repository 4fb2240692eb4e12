// foxhunt data continuous: one series through many contracts, with a record of every roll.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "foxhunt/app/data_series.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/cli/csv_options.h"
#include "foxhunt/series/continuous.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::vector<std::filesystem::path> files;
  std::string out, rolls, map, open_interest;
  bool first_wins = false;
  series::ContinuousJob job;
};

int run(const Options& options, const Globals& globals) {
  using series::RollRule;
  series::ContinuousJob job = options.job;
  if ((job.config.rule == RollRule::kMap) == options.map.empty())
    throw UsageError("--rule map and --map FILE go together");
  if ((job.config.rule == RollRule::kOpenInterest) == options.open_interest.empty())
    throw UsageError("--rule open-interest and --open-interest FILE go together");
  if (!options.map.empty()) job.config.map = series::read_roll_map(options.map);
  if (!options.open_interest.empty())
    job.config.open_interest = series::read_open_interest(options.open_interest);
  if (options.first_wins) job.conflict = series::Conflict::kFirst;
  const series::ContinuousReport report = series::make_continuous(options.files, job, options.out);
  if (!options.rolls.empty()) {
    const bool json = std::filesystem::path(options.rolls).extension() == ".json";
    write_file_atomic(options.rolls, json ? report.to_json() + "\n" : report.rolls_csv());
  }
  fmt::print("{}", globals.json ? report.to_json() + "\n" : report.to_text());
  return 0;
}

}  // namespace

void add_data_continuous(CLI::App& data, const Globals& globals,
                         const std::shared_ptr<Run>& run_slot) {
  using namespace series;
  auto options = std::make_shared<Options>();
  RollConfig& config = options->job.config;
  CLI::App* sub = data.add_subcommand(
      "continuous", "bars of many contracts as one series, with every roll on record");
  sub->fallthrough();
  sub->add_option("files", options->files, "bars of the contracts; DBN or CSV, in any order")
      ->required()
      ->check(CLI::ExistingFile);
  sub->add_option("-o,--out", options->out, "DBN (.dbn, .dbn.zst), else CSV")->required();
  sub->add_option("--rolls", options->rolls,
                  "where to write the rolls: .json with settings and hashes, else CSV");
  sub->add_option("--product", config.product, "whose contracts")->capture_default_str();
  add_choice<RollRule>(*sub, "--rule", config.rule,
                       {{"volume", RollRule::kVolume},
                        {"calendar", RollRule::kCalendar},
                        {"open-interest", RollRule::kOpenInterest},
                        {"map", RollRule::kMap}},
                       "volume (default), calendar, open-interest or map");
  add_choice<Adjust>(
      *sub, "--adjust", config.adjust,
      {{"none", Adjust::kNone}, {"difference", Adjust::kDifference}, {"ratio", Adjust::kRatio}},
      "none (default), difference or ratio");
  add_choice<Anchor>(*sub, "--anchor", config.anchor,
                     {{"last", Anchor::kLast}, {"first", Anchor::kFirst}},
                     "whose prices stay: the last contract's (default) or the first one's");
  sub->add_option("--months", config.months, "letters of the months that take part, as HMUZ");
  sub->add_option("--days-before", config.days_before,
                  "business days before its last safe day on which a contract is left")
      ->capture_default_str();
  sub->add_option("--map", options->map, "first_session,symbol lines, for --rule map")
      ->check(CLI::ExistingFile);
  sub->add_option("--open-interest", options->open_interest,
                  "date,symbol,open_interest lines, for --rule open-interest")
      ->check(CLI::ExistingFile);
  sub->add_flag("--first-wins", options->first_wins,
                "of two different bars of one contract and time keep the first file's");
  cli::add_csv_options(*sub, options->job.read.csv);
  sub->callback([options, run_slot, &globals] {
    *run_slot = [options, &globals] { return run(*options, globals); };
  });
}

}  // namespace foxhunt::app
