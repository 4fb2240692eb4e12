// foxhunt data book: a recorded feed through its order book.
#include <fmt/format.h>

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "foxhunt/app/data_series.h"
#include "foxhunt/base/log.h"
#include "foxhunt/book/feed_report.h"
#include "foxhunt/cli/csv_options.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::string file;
  std::string out;
  book::FeedOptions feed;
};

int run(const Options& options, const Globals& globals) {
  book::FeedOptions feed = options.feed;
  feed.out = options.out;
  const book::FeedReport report = book::read_feed(options.file, feed);
  if (report.truncated) log::warn("{}: is cut short; read up to where it ends", options.file);
  fmt::print("{}\n", globals.json ? report.to_json() : report.to_text());
  return 0;
}

}  // namespace

void add_data_book(CLI::App& data, const Globals& globals, const std::shared_ptr<Run>& run_slot) {
  using book::FeedKind;
  auto options = std::make_shared<Options>();
  CLI::App* sub = data.add_subcommand(
      "book", "order books out of orders or levels: best levels, what was counted, views as CSV");
  sub->fallthrough();
  sub->add_option("file", options->file, "a recorded feed; plain, zstd, gzip or xz")
      ->required()
      ->check(CLI::ExistingFile);
  add_choice<FeedKind>(*sub, "--feed", options->feed.feed,
                       {{"mbo", FeedKind::kDbn},
                        {"binance", FeedKind::kBinance},
                        {"bitstamp", FeedKind::kBitstamp},
                        {"hyperliquid", FeedKind::kHyperliquid}},
                       "mbo (default): DBN or CSV, also of schemas that hold levels; binance, "
                       "hyperliquid: lines of a time and JSON; bitstamp: CSV of orders");
  sub->add_option("--every", options->feed.every, "write each so many-th view")
      ->capture_default_str();
  sub->add_option("--levels", options->feed.levels, "of each side, 1 to 10")->capture_default_str();
  sub->add_option("-o,--out", options->out, "CSV of the views; without it only the report");
  sub->add_option("--dbn-version", options->feed.read.dbn_version,
                  "of a DBN fragment without metadata; 0: by its records")
      ->capture_default_str();
  cli::add_csv_options(*sub, options->feed.read.csv);
  sub->callback([options, run_slot, &globals] {
    *run_slot = [options, &globals] { return run(*options, globals); };
  });
}

}  // namespace foxhunt::app
