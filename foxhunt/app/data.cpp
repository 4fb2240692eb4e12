// foxhunt data: what a file holds. The sub-verbs that write files or make series are in files of
// their own.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/app/data_check.h"
#include "foxhunt/app/data_files.h"
#include "foxhunt/app/data_series.h"
#include "foxhunt/cli/csv_options.h"
#include "foxhunt/market/inspect.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::string file;
  market::ReadOptions read;
  market::InspectOptions inspect;
};

int inspect(const Options& options, const Globals& globals) {
  const std::unique_ptr<market::Reader> reader = market::open_reader(options.file, options.read);
  const market::Inspection found = market::inspect(*reader, options.inspect);
  fmt::print("{}\n", globals.json ? market::to_json(found) : market::to_text(found));
  return 0;
}

void add_input(CLI::App& sub, Options& options) {
  sub.add_option("file", options.file, "DBN (plain or zstd) or CSV (plain, zstd or gzip)")
      ->required()
      ->check(CLI::ExistingFile);
  sub.add_option("--dbn-version", options.read.dbn_version,
                 "of a DBN fragment without metadata; 0: by its records")
      ->capture_default_str();
  cli::add_csv_options(sub, options.read.csv);
}

}  // namespace

Run add_data(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  auto run = std::make_shared<Run>();
  sub.require_subcommand(1);

  CLI::App* inspect_sub = sub.add_subcommand(
      "inspect", "schema, symbols, range, counts, gaps by session, first and last record");
  inspect_sub->fallthrough();
  add_input(*inspect_sub, *options);
  inspect_sub->add_option("--product", options->inspect.product,
                          "whose sessions to hold it against; default: by its symbols");
  inspect_sub->callback(
      [=, &globals] { *run = [options, &globals] { return inspect(*options, globals); }; });

  add_data_convert(sub, *run, globals);
  add_data_merge(sub, *run, globals);
  add_data_split(sub, *run, globals);
  add_data_bars(sub, globals, run);
  add_data_book(sub, globals, run);
  add_data_continuous(sub, globals, run);
  add_data_check(sub, globals, run);
  return [run] { return (*run)(); };
}

}  // namespace foxhunt::app
