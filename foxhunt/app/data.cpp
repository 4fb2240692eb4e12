// foxhunt data inspect | convert | check: what a file holds, bars of any file as DBN version 3,
// what is wrong with files.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/app/data_check.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/log.h"
#include "foxhunt/base/progress.h"
#include "foxhunt/cli/csv_options.h"
#include "foxhunt/market/convert.h"
#include "foxhunt/market/inspect.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::string file;
  std::string out;
  market::ReadOptions read;
  market::InspectOptions inspect;
  market::ConvertOptions convert;
};

int inspect(const Options& options, const Globals& globals) {
  const std::unique_ptr<market::Reader> reader = market::open_reader(options.file, options.read);
  const market::Inspection found = market::inspect(*reader, options.inspect);
  fmt::print("{}\n", globals.json ? market::to_json(found) : market::to_text(found));
  return 0;
}

int convert(const Options& options, const Globals& globals) {
  const std::unique_ptr<market::Reader> reader = market::open_reader(options.file, options.read);
  const market::ConvertReport done = market::convert_bars(*reader, options.out, options.convert);
  if (done.truncated) log::warn("{}: is cut short; converted up to where it ends", options.file);
  if (globals.json) {
    const nlohmann::ordered_json out{
        {"out", options.out},          {"schema", done.schema},   {"dataset", done.dataset},
        {"records", done.bars},        {"symbols", done.symbols}, {"start", to_string(done.first)},
        {"end", to_string(done.last)}, {"bytes", done.bytes},     {"truncated", done.truncated}};
    fmt::print("{}\n", out.dump(2));
  } else {
    fmt::print("{}: {} bars of {} symbols, {}, {} to {}, {}\n", options.out, done.bars,
               done.symbols, done.schema, to_string(done.first), to_string(done.last),
               format_bytes(static_cast<std::int64_t>(done.bytes)));
  }
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

  CLI::App* convert_sub =
      sub.add_subcommand("convert", "bars to DBN version 3 (zstd when the name ends in .zst)");
  convert_sub->fallthrough();
  add_input(*convert_sub, *options);
  convert_sub->add_option("--out", options->out, "file to write")->required();
  convert_sub->add_option("--dataset", options->convert.dataset,
                          "whose data it is; default: what the input says");
  convert_sub->add_flag("--allow-truncated", options->convert.allow_truncated,
                        "convert what is whole of a file that is cut short");
  convert_sub->callback(
      [=, &globals] { *run = [options, &globals] { return convert(*options, globals); }; });
  add_data_check(sub, globals, run);
  return [run] { return (*run)(); };
}

}  // namespace foxhunt::app
