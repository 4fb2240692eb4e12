// foxhunt data check FILE…: what is wrong with data files, as text, JSON or a page, and a lock of
// them.
#include "foxhunt/app/data_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/cli/csv_options.h"
#include "foxhunt/doctor/data_lock.h"
#include "foxhunt/doctor/doctor.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string html;
  std::string lock;
  bool rules = false;
  doctor::CheckOptions check;
};

int check(const Options& options, const cli::Globals& globals) {
  if (options.rules) {
    fmt::print("{}", doctor::rules_markdown());
    return 0;
  }
  if (options.files.empty()) throw UsageError("data check: name files, or --rules");
  const std::vector<std::filesystem::path> paths(options.files.begin(), options.files.end());
  const std::vector<doctor::FileReport> reports = doctor::check_files(paths, options.check);
  if (!options.html.empty()) write_file_atomic(options.html, doctor::to_html(reports));
  if (!options.lock.empty())
    write_file_atomic(options.lock, doctor::data_lock_json(doctor::lock_of(reports)));
  fmt::print("{}\n", globals.json ? doctor::to_json(reports) : doctor::to_text(reports));
  const bool failed = std::ranges::any_of(reports, &doctor::FileReport::has_errors);
  return static_cast<int>(failed ? ExitCode::kData : ExitCode::kOk);
}

}  // namespace

void add_data_check(CLI::App& data, const cli::Globals& globals,
                    const std::shared_ptr<cli::Run>& run) {
  auto options = std::make_shared<Options>();
  CLI::App* sub = data.add_subcommand(
      "check",
      "what is wrong with files, where, how often, and what training does about it; exit code 3 "
      "when a finding is an error");
  sub->fallthrough();
  sub->add_option("files", options->files, "DBN or CSV files of one kind, in the order of time")
      ->check(CLI::ExistingFile);
  sub->add_option(
      "--product", options->check.product,
      "whose sessions, tick and prices to hold them against; default: by their symbols");
  sub->add_option(
      "--lock", options->lock,
      "write a data.lock: hashes, ranges and findings, for data.lock of a configuration");
  sub->add_option("--html", options->html, "write the report as a page that needs nothing else");
  sub->add_flag("--rules", options->rules, "print the rules with their thresholds and reasons");
  sub->add_option("--dbn-version", options->check.read.dbn_version,
                  "of a DBN fragment without metadata; 0: by its records")
      ->capture_default_str();
  cli::add_csv_options(*sub, options->check.read.csv);
  sub->callback([=, &globals] { *run = [options, &globals] { return check(*options, globals); }; });
}

}  // namespace foxhunt::app
