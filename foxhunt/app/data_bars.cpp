// foxhunt data bars: trades or quotes of one contract as bars of any kind.
#include <fmt/format.h>

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "foxhunt/app/data_series.h"
#include "foxhunt/cli/csv_options.h"
#include "foxhunt/series/make_bars.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::string file;
  std::string out;
  market::ReadOptions read;
  series::TickFilter filter;
  series::BarConfig bars;
};

int run(const Options& options, const Globals& globals) {
  const auto reader = market::open_reader(options.file, options.read);
  const series::BarReport report =
      series::make_bars(*reader, options.filter, options.bars, options.out);
  fmt::print("{}\n", globals.json ? report.to_json() : options.out + ": " + report.to_text());
  return 0;
}

}  // namespace

void add_data_bars(CLI::App& data, const Globals& globals, const std::shared_ptr<Run>& run_slot) {
  using namespace series;
  auto options = std::make_shared<Options>();
  CLI::App* sub = data.add_subcommand(
      "bars",
      "bars out of trades or quotes: time, session, tick, volume, dollar, range, imbalance");
  sub->fallthrough();
  sub->add_option("file", options->file, "trades, mbp-1, tbbo or mbo of one contract; DBN or CSV")
      ->required()
      ->check(CLI::ExistingFile);
  sub->add_option("-o,--out", options->out, "CSV, or DBN of time bars (.dbn, .dbn.zst)")
      ->required();
  add_choice<BarKind>(*sub, "--kind", options->bars.kind,
                      {{"time", BarKind::kTime},
                       {"session", BarKind::kSession},
                       {"tick", BarKind::kTick},
                       {"volume", BarKind::kVolume},
                       {"dollar", BarKind::kDollar},
                       {"range", BarKind::kRange},
                       {"imbalance", BarKind::kImbalance}},
                      "time (default), session, tick, volume, dollar, range or imbalance");
  sub->add_option("--size", options->bars.size,
                  "seconds, trades, contracts, units of currency, ticks of price; of imbalance the "
                  "limit, or the trades of the first bar")
      ->capture_default_str();
  sub->add_option("--product", options->filter.product, "whose sessions and multiplier")
      ->capture_default_str();
  sub->add_option("--symbol", options->filter.symbol, "one contract of a file that holds several");
  add_choice<TickOf>(*sub, "--of", options->filter.of,
                     {{"trades", TickOf::kTrades}, {"mid", TickOf::kMid}},
                     "trades (default), or mid: of best bid and ask, each time that it changes");
  add_choice<CutBars>(*sub, "--cut", options->bars.cut,
                      {{"keep", CutBars::kKeep}, {"drop", CutBars::kDrop}},
                      "what becomes of bars that a break cuts: keep (default) or drop");
  add_choice<Holes>(*sub, "--holes", options->bars.holes,
                    {{"skip", Holes::kSkip}, {"fill", Holes::kFill}},
                    "intervals without a trade: skip (default), or fill with flat bars marked so");
  add_choice<Clock>(*sub, "--clock", options->bars.clock,
                    {{"event", Clock::kEvent}, {"received", Clock::kReceived}},
                    "the time that bars go by: event (default) or received");
  add_choice<ImbalanceOf>(*sub, "--imbalance-of", options->bars.imbalance_of,
                          {{"ticks", ImbalanceOf::kTicks}, {"volume", ImbalanceOf::kVolume}},
                          "ticks (default): signs of trades; volume: signed contracts");
  add_choice<SignRule>(*sub, "--sign", options->bars.sign,
                       {{"aggressor", SignRule::kAggressor}, {"price", SignRule::kPrice}},
                       "aggressor (default): the side that the file names; price: the tick rule");
  add_choice<Expectation>(*sub, "--expect", options->bars.expectation,
                          {{"running", Expectation::kRunning}, {"fixed", Expectation::kFixed}},
                          "running (default): what past bars let expect; fixed: --size");
  sub->add_option("--expect-bars", options->bars.expectation_bars, "span of that expectation")
      ->capture_default_str();
  sub->add_option("--dbn-version", options->read.dbn_version,
                  "of a DBN fragment without metadata; 0: by its records")
      ->capture_default_str();
  cli::add_csv_options(*sub, options->read.csv);
  sub->callback([options, run_slot, &globals] {
    *run_slot = [options, &globals] { return run(*options, globals); };
  });
}

}  // namespace foxhunt::app
