#include "foxhunt/series/make_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/market/calendar.h"
#include "foxhunt/market/contract.h"
#include "foxhunt/market/dbn_writer.h"
#include "foxhunt/series/bar_builder.h"
#include "foxhunt/series/hole_filler.h"
#include "foxhunt/series/rows_file.h"

namespace foxhunt::series {
namespace {

namespace fs = std::filesystem;
using Take = std::function<void(const EventBar&)>;

void refuse_mids(const BarConfig& config) {
  if (config.kind == BarKind::kVolume || config.kind == BarKind::kDollar) {
    throw ConfigError(
        "[bars] mids have no volume: of quotes there are time, session, tick, range and imbalance "
        "bars");
  }
  if (config.kind == BarKind::kImbalance && config.imbalance_of == ImbalanceOf::kVolume)
    throw ConfigError("[bars] mids have no volume: their imbalance is one of ticks");
}

BarReport run(market::Reader& reader, TickSource& source, const TickFilter& filter,
              const BarConfig& config, const Take& take) {
  if (filter.of == TickOf::kMid) refuse_mids(config);
  BarBuilder builder(config, market::contract_for_product(filter.product),
                     market::Calendar::for_product(filter.product));
  const bool fill = config.holes == Holes::kFill;
  if (fill && config.kind != BarKind::kTime)
    throw ConfigError("[bars] only time bars have holes that can be filled");
  HoleFiller filler(market::Calendar::for_product(filter.product),
                    std::chrono::seconds{std::max<std::int64_t>(config.size, 1)});
  BarReport report;
  const auto give = [&](std::span<const EventBar> bars) {
    for (const EventBar& bar : bars) {
      if (is_null(report.first)) report.first = bar.start;
      report.last = bar.end;
      report.volume += bar.volume;
      fill ? filler.push(bar, take) : take(bar);
    }
  };
  while (const std::optional<Tick> tick = source.next()) give(builder.push(*tick));
  give(builder.finish(reader.info().end));
  report.symbol = source.symbol();
  report.ticks = source.counters();
  report.bars = builder.counters();
  report.filled = filler.filled();
  return report;
}

BarReport to_csv(market::Reader& reader, TickSource& source, const TickFilter& filter,
                 const BarConfig& config, const fs::path& out) {
  RowsFile file(out);
  // A file without symbols is taken to hold the product, here as where it is read.
  const auto symbol = [&] { return source.symbol().empty() ? filter.product : source.symbol(); };
  file.line(
      "ts_event,ts_end,ts_available,symbol,open,high,low,close,volume,ticks,buy_volume,sell_volume,"
      "value,imbalance,cut,filled");
  const BarReport report = run(reader, source, filter, config, [&](const EventBar& bar) {
    file.line(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{:.2f},{},{},{}",
                          to_string(bar.start), to_string(bar.end), to_string(bar.available_at),
                          symbol(), decimal_text(bar.open), decimal_text(bar.high),
                          decimal_text(bar.low), decimal_text(bar.close), bar.volume, bar.ticks,
                          bar.buy_volume, bar.sell_volume, bar.value, bar.imbalance,
                          bar.cut ? 1 : 0, bar.filled ? 1 : 0));
  });
  file.commit();
  return report;
}

std::string dbn_schema(const BarConfig& config) {
  if (config.kind == BarKind::kTime) {
    if (config.size == 1) return "ohlcv-1s";
    if (config.size == 60) return "ohlcv-1m";
    if (config.size == 3600) return "ohlcv-1h";
    if (config.size == 86'400) return "ohlcv-1d";
  }
  throw ConfigError("[bars] DBN holds time bars of 1, 60, 3600 and 86400 s; write others as CSV");
}

/// What stands in front of the bars: the input's words on this one contract.
market::StreamInfo metadata_of(const market::Reader& reader, const std::string& symbol,
                               const BarConfig& config) {
  market::StreamInfo info;
  info.dataset = reader.info().dataset;
  info.schema = dbn_schema(config);
  info.stype_in = reader.info().stype_in;
  info.stype_out = reader.info().stype_out;
  info.start = reader.info().start;
  info.end = reader.info().end;
  info.symbols = {symbol};
  for (const market::SymbolInterval& mapping : reader.info().mappings) {
    if (mapping.raw_symbol == symbol) info.mappings.push_back(mapping);
  }
  if (info.dataset.empty() || info.mappings.empty()) {
    throw DataError(
        "[bars] DBN says whose data it is and of which symbol; the input does not: write CSV");
  }
  return info;
}

BarReport to_dbn(market::Reader& reader, TickSource& source, const TickFilter& filter,
                 const BarConfig& config, const fs::path& out) {
  if (filter.of == TickOf::kMid) throw ConfigError("[bars] bars of mids are written as CSV");
  if (config.holes == Holes::kFill)
    throw ConfigError("[bars] DBN cannot mark a bar that fills a hole; write CSV");
  const std::chrono::seconds span{config.size};
  std::optional<market::DbnWriter> writer;
  const BarReport report = run(reader, source, filter, config, [&](const EventBar& bar) {
    if (!writer) {
      writer.emplace(out, metadata_of(reader, source.symbol(), config),
                     market::DbnWriteOptions{.compress = out.extension() == ".zst"});
    }
    writer->write(market::Bar{.instrument = source.instrument(),
                              .start = bar.start,
                              .span = span,
                              .open = bar.open,
                              .high = bar.high,
                              .low = bar.low,
                              .close = bar.close,
                              .volume = bar.volume});
  });
  if (!writer) throw DataError(fmt::format("[bars] no bar came out: {}", report.to_text()));
  writer->finish();
  return report;
}

}  // namespace

BarReport make_bars(market::Reader& reader, const TickFilter& filter, const BarConfig& config,
                    const Take& take) {
  TickSource source(reader, filter);
  BarReport report = run(reader, source, filter, config, take);
  report.truncated = reader.stats().truncated;
  return report;
}

BarReport make_bars(market::Reader& reader, const TickFilter& filter, const BarConfig& config,
                    const fs::path& out) {
  TickSource source(reader, filter);
  const bool dbn =
      out.extension() == ".dbn" || (out.extension() == ".zst" && out.stem().extension() == ".dbn");
  BarReport report = dbn ? to_dbn(reader, source, filter, config, out)
                         : to_csv(reader, source, filter, config, out);
  report.truncated = reader.stats().truncated;
  return report;
}

std::string BarReport::to_text() const {
  std::string text = fmt::format("{} bars of {}, {} contracts, {} to {}", bars.bars,
                                 symbol.empty() ? "one contract" : symbol, volume, to_string(first),
                                 to_string(last));
  const auto add = [&text](auto count, const char* what) {
    if (count > 0) text += fmt::format("; {} {}", count, what);
  };
  add(bars.cut_bars, "cut by a break or the end");
  add(bars.dropped_bars, "of them dropped");
  add(filled, "flat ones in holes, beside them");
  add(bars.outside_session, "trades outside every session");
  add(bars.without_price, "without price or time");
  add(bars.late, "out of order, put into the open bar");
  add(ticks.other_kind, "records of other kinds");
  add(ticks.other_contract, "of other contracts");
  add(ticks.unmapped, "without a known symbol");
  add(ticks.empty, "trades of no size or books with an empty side");
  add(ticks.crossed, "crossed books");
  add(ticks.inside_event, "quotes inside an event");
  add(ticks.unchanged, "quotes that leave the mid");
  if (truncated) text += "; the input is cut short";
  return text;
}

std::string BarReport::to_json() const {
  const nlohmann::ordered_json json{{"symbol", symbol},
                                    {"bars", bars.bars},
                                    {"volume", volume},
                                    {"first", to_string(first)},
                                    {"last", to_string(last)},
                                    {"ticks", bars.ticks},
                                    {"cut_bars", bars.cut_bars},
                                    {"dropped_bars", bars.dropped_bars},
                                    {"dropped_ticks", bars.dropped_ticks},
                                    {"dropped_volume", bars.dropped_volume},
                                    {"filled", filled},
                                    {"outside_session", bars.outside_session},
                                    {"outside_volume", bars.outside_volume},
                                    {"without_price", bars.without_price},
                                    {"late", bars.late},
                                    {"records", ticks.records},
                                    {"other_kind", ticks.other_kind},
                                    {"other_contract", ticks.other_contract},
                                    {"unmapped", ticks.unmapped},
                                    {"empty", ticks.empty},
                                    {"crossed", ticks.crossed},
                                    {"inside_event", ticks.inside_event},
                                    {"unchanged", ticks.unchanged},
                                    {"truncated", truncated}};
  return json.dump(2);
}

}  // namespace foxhunt::series
