#include "foxhunt/series/continuous.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/market/dbn_writer.h"
#include "foxhunt/series/rows_file.h"

namespace foxhunt::series {
namespace {

namespace fs = std::filesystem;
using std::chrono::days;

MergedBars open_all(const std::vector<fs::path>& files, const ContinuousJob& job) {
  MergedBars::Readers readers;
  std::vector<std::string> names;
  for (const fs::path& file : files) {
    readers.push_back(market::open_reader(file, job.read));
    names.push_back(file.string());
  }
  return {std::move(readers), std::move(names), job.config.product, job.conflict};
}

std::string schema_of(std::chrono::nanoseconds span) {
  if (span == std::chrono::seconds{1}) return "ohlcv-1s";
  if (span == std::chrono::minutes{1}) return "ohlcv-1m";
  if (span == std::chrono::hours{1}) return "ohlcv-1h";
  if (span == std::chrono::hours{24}) return "ohlcv-1d";
  throw DataError(
      fmt::format("[continuous] DBN has bars of 1 s, 1 min, 1 h and 1 d; these are of "
                  "{} s: write CSV",
                  std::chrono::duration<double>(span).count()));
}

/// Where the series goes, bar by bar.
class Output {
 public:
  Output(const fs::path& path, const RollPlan& plan, std::string dataset, UnixNanos last)
      : path_(path), plan_(plan), dataset_(std::move(dataset)), last_(last) {
    is_dbn_ = path.extension() == ".dbn" ||
              (path.extension() == ".zst" && path.stem().extension() == ".dbn");
    if (is_dbn_) return;
    rows_.emplace(path);
    rows_->line("ts_event,rtype,symbol,instrument_id,open,high,low,close,volume,roll");
  }

  void write(const market::Bar& bar, bool rolled) {
    if (is_dbn_) {
      if (!dbn_) open_dbn(bar);
      dbn_->write(bar);
      return;
    }
    const std::string schema = schema_of(bar.span);
    const int rtype = schema == "ohlcv-1s"   ? 32
                      : schema == "ohlcv-1m" ? 33
                      : schema == "ohlcv-1h" ? 34
                                             : 35;
    rows_->line(fmt::format("{},{},{},{},{},{},{},{},{},{}", to_string(bar.start), rtype,
                            plan_.stretches[bar.instrument.instrument_id - 1].symbol,
                            bar.instrument.instrument_id, decimal_text(bar.open),
                            decimal_text(bar.high), decimal_text(bar.low), decimal_text(bar.close),
                            bar.volume, rolled ? 1 : 0));
  }

  void finish() { is_dbn_ ? dbn_->finish() : rows_->commit(); }

 private:
  void open_dbn(const market::Bar& bar) {
    market::StreamInfo info;
    info.dataset = dataset_;
    info.schema = schema_of(bar.span);
    info.stype_in = "raw_symbol";
    info.stype_out = "instrument_id";
    info.start = bar.start;
    for (std::size_t i = 0; i < plan_.stretches.size(); ++i) {
      const Stretch& stretch = plan_.stretches[i];
      const auto from = std::chrono::floor<days>(stretch.begin);
      const auto until =
          std::chrono::floor<days>(is_null(stretch.end) ? last_ : stretch.end) + days{1};
      if (std::ranges::find(info.symbols, stretch.symbol) == info.symbols.end())
        info.symbols.push_back(stretch.symbol);
      info.mappings.push_back({.raw_symbol = stretch.symbol,
                               .start = Date{from},
                               .end = Date{until},
                               .instrument_id = static_cast<std::uint32_t>(i + 1)});
    }
    dbn_.emplace(path_, info, market::DbnWriteOptions{.compress = path_.extension() == ".zst"});
  }

  fs::path path_;
  const RollPlan& plan_;
  std::string dataset_;
  UnixNanos last_;  ///< start of the newest bar there is
  bool is_dbn_ = false;
  std::optional<RowsFile> rows_;
  std::optional<market::DbnWriter> dbn_;
};

}  // namespace

ContinuousBuilder::ContinuousBuilder(RollPlan plan, Adjust adjust)
    : plan_(std::move(plan)), adjust_(adjust) {}

std::optional<market::Bar> ContinuousBuilder::take(const ContractBar& in) {
  const UnixNanos t = in.bar.start;
  while (now_ + 1 < plan_.stretches.size() && t >= plan_.stretches[now_ + 1].begin) ++now_;
  const Stretch& stretch = plan_.stretches[now_];
  if (t < stretch.begin || in.symbol != stretch.symbol) return std::nullopt;
  market::Bar bar = in.bar;
  bar.instrument = {.publisher_id = 0, .instrument_id = static_cast<std::uint32_t>(now_ + 1)};
  for (Price market::Bar::*price :
       {&market::Bar::open, &market::Bar::high, &market::Bar::low, &market::Bar::close})
    bar.*price = adjusted(bar.*price, stretch, in);
  return bar;
}

Price ContinuousBuilder::adjusted(Price price, const Stretch& stretch,
                                  const ContractBar& bar) const {
  if (price.is_null() || adjust_ == Adjust::kNone) return price;
  if (adjust_ == Adjust::kRatio && price.nano <= 0) {
    throw DataError(
        fmt::format("[continuous] {} at {}: a price of {} has no ratio; adjust by difference",
                    bar.symbol, to_string(bar.bar.start), price.to_double()));
  }
  const long double exact =
      adjust_ == Adjust::kRatio
          ? static_cast<long double>(price.nano) * static_cast<long double>(stretch.factor)
          : static_cast<long double>(price.nano) + static_cast<long double>(stretch.offset);
  if (std::abs(exact) > 9.2e18L) {
    throw DataError(fmt::format("[continuous] {} at {}: the adjusted price leaves its range",
                                bar.symbol, to_string(bar.bar.start)));
  }
  return Price{std::llround(exact)};
}

ContinuousReport make_continuous(const std::vector<fs::path>& files, const ContinuousJob& job,
                                 const fs::path& out) {
  const market::Calendar calendar = market::Calendar::for_product(job.config.product);
  ContinuousReport report;
  report.config = job.config;
  DailyTable table(calendar);
  {
    MergedBars bars = open_all(files, job);
    while (const ContractBar* bar = bars.next()) table.add(bar->symbol, bar->bar);
    report.input = bars.counters();
  }
  report.outside_session = table.outside_session();
  report.plan = plan_rolls(table.contracts(), job.config, calendar);

  std::string dataset = market::open_reader(files.front(), job.read)->info().dataset;
  if (dataset.empty()) dataset = "CONTINUOUS";
  ContinuousBuilder builder(report.plan, job.config.adjust);
  Output output(out, report.plan, dataset, table.last());
  MergedBars bars = open_all(files, job);
  std::optional<market::Bar> last;
  while (const ContractBar* bar = bars.next()) {
    const auto taken = builder.take(*bar);
    if (!taken) {
      ++report.other_contracts;
      continue;
    }
    if (last && last->span != taken->span) {
      throw DataError(
          fmt::format("[continuous] bars of {} s and of {} s, the second at {}; a "
                      "series has one length of bar",
                      std::chrono::duration<double>(last->span).count(),
                      std::chrono::duration<double>(taken->span).count(), to_string(taken->start)));
    }
    if (!last) report.first = taken->start;
    output.write(*taken, last && last->instrument != taken->instrument);
    ++report.bars;
    last = taken;
  }
  if (!last) {
    throw DataError(fmt::format("[continuous] no bar came out of {} files: {} records",
                                files.size(), report.input.records));
  }
  report.last = last->start;
  output.finish();
  for (const fs::path& file : files) report.inputs.push_back({file, sha256_of_file(file)});
  report.output = {out, sha256_of_file(out)};
  return report;
}

}  // namespace foxhunt::series
