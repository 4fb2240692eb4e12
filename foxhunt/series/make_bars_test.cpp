// Whole files: official bars, event bars of others, memory.
#include "foxhunt/series/make_bars.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_test_support.h"
#include "foxhunt/series/test_ticks.h"

namespace foxhunt::series {
namespace {

using market::test::error_of;
using market::test::shared_folder;
using market::test::TempFolder;
using namespace std::chrono_literals;

constexpr const char* kCatalog = "data/dbn/nautilus/historical_bars_catalog";

std::filesystem::path catalog(const char* name) { return shared_folder() / kCatalog / name; }

#define REQUIRE_FILE(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << (path) << " is not there"

std::vector<market::Bar> official_bars() {
  const auto reader =
      market::open_reader(catalog("futures_ohlcv-1m_2024-07-01T23-40_2024-07-02T00-10.dbn.zst"));
  std::vector<market::Bar> bars;
  while (const market::Record* record = reader->next()) {
    const auto& bar = std::get<market::Bar>(*record);
    if (reader->symbol_of(bar.instrument, bar.start) == "ESU4") bars.push_back(bar);
  }
  return bars;
}

TEST(MakeBars, MinutesOfTradesEqualTheOfficialFileBarByBar) {
  const auto trades = catalog("futures_trades_2024-07-01T23-58_2024-07-02T00-02.dbn.zst");
  REQUIRE_FILE(trades);
  for (const Clock clock : {Clock::kEvent, Clock::kReceived}) {
    const auto reader = market::open_reader(trades);
    std::vector<EventBar> bars;
    const BarReport report =
        make_bars(*reader, {.symbol = "ESU4"}, {.kind = BarKind::kTime, .size = 60, .clock = clock},
                  [&](const EventBar& bar) { bars.push_back(bar); });
    EXPECT_EQ(report.ticks.ticks, 120);
    EXPECT_EQ(report.bars.cut_bars, 0);
    std::vector<market::Bar> official;
    for (const market::Bar& bar : official_bars()) {
      if (bar.start >= parse_time("2024-07-01T23:58") && bar.start < parse_time("2024-07-02T00:02"))
        official.push_back(bar);
    }
    ASSERT_EQ(bars.size(), 4U);
    ASSERT_EQ(official.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(bars[i].start, official[i].start);
      EXPECT_EQ(bars[i].open, official[i].open);
      EXPECT_EQ(bars[i].high, official[i].high);
      EXPECT_EQ(bars[i].low, official[i].low);
      EXPECT_EQ(bars[i].close, official[i].close);
      EXPECT_EQ(bars[i].volume, official[i].volume);
    }
  }
}

TEST(MakeBars, WritesDbnThatReadsBackAsTheOfficialBars) {
  const auto trades = catalog("futures_trades_2024-07-01T23-58_2024-07-02T00-02.dbn.zst");
  REQUIRE_FILE(trades);
  const TempFolder folder;
  const auto out = folder / "bars.dbn.zst";
  make_bars(*market::open_reader(trades), {.symbol = "ESU4"}, {}, out);
  const auto back = market::open_reader(out);
  EXPECT_EQ(back->info().schema, "ohlcv-1m");
  std::size_t i = 0;
  const auto official = official_bars();
  while (const market::Record* record = back->next()) {
    const auto& bar = std::get<market::Bar>(*record);
    EXPECT_EQ(back->symbol_of(bar.instrument, bar.start), "ESU4");
    while (i < official.size() && official[i].start < bar.start) ++i;
    ASSERT_LT(i, official.size());
    EXPECT_EQ(bar.close, official[i].close);
    EXPECT_EQ(bar.volume, official[i].volume);
  }
  EXPECT_EQ(back->stats().records, 4);
}

TEST(MakeBars, MidsOfQuotesStayBetweenBidAndAsk) {
  const auto quotes = catalog("futures_mbp-1_2024-07-01T23-58_2024-07-02T00-02.dbn.zst");
  REQUIRE_FILE(quotes);
  // Oracle: every quote after which the book may be looked at, by minute.
  std::map<UnixNanos, std::pair<Price, Price>> range;
  const auto again = market::open_reader(quotes);
  while (const market::Record* record = again->next()) {
    const auto& quote = std::get<market::TopOfBook>(*record);
    if ((quote.flags & market::flag::kLast) == 0 || quote.level.bid >= quote.level.ask) continue;
    const Price mid{(quote.level.bid.nano + quote.level.ask.nano) / 2};
    auto& [low, high] =
        range.try_emplace(std::chrono::floor<std::chrono::minutes>(quote.ts_event), mid, mid)
            .first->second;
    low = std::min(low, mid);
    high = std::max(high, mid);
  }
  std::size_t n = 0;
  const BarReport report =
      make_bars(*market::open_reader(quotes), {.symbol = "ESU4", .of = TickOf::kMid}, {},
                [&](const EventBar& bar) {
                  ++n;
                  ASSERT_TRUE(range.contains(bar.start));
                  EXPECT_GE(bar.low, range.at(bar.start).first);
                  EXPECT_LE(bar.high, range.at(bar.start).second);
                  EXPECT_EQ(bar.volume, 0U);
                });
  EXPECT_EQ(n, range.size());
  const TickCounters& c = report.ticks;
  EXPECT_EQ(c.records, c.ticks + c.other_kind + c.other_contract + c.unmapped + c.empty +
                           c.crossed + c.inside_event + c.unchanged);
  EXPECT_GT(c.unchanged, 0);
  EXPECT_THROW(make_bars(*market::open_reader(quotes), {.of = TickOf::kMid},
                         {.kind = BarKind::kVolume, .size = 10}, [](const EventBar&) {}),
               ConfigError);
}

std::int64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  }
  return -1;
}

/// Hands out trades without holding them, and watches the memory of the process.
class TradeReader final : public market::Reader {
 public:
  TradeReader(std::int64_t n, std::chrono::nanoseconds gap) : left_(n), ticks_(3, gap) {}
  const market::StreamInfo& info() const override { return info_; }
  const market::ReadStats& stats() const override { return stats_; }
  const market::Record* next() override {
    if (left_-- <= 0) return nullptr;
    if (left_ % 5'000 == 0) peak_kib = std::max(peak_kib, resident_kib());
    const Tick tick = ticks_.next();
    record_ = market::Trade{.instrument = {1, 7},
                            .ts_event = tick.ts_event,
                            .ts_recv = tick.ts_recv,
                            .price = tick.price,
                            .size = tick.size,
                            .side = tick.aggressor};
    ++stats_.records;
    return &record_;
  }

  std::int64_t peak_kib = 0;

 private:
  std::int64_t left_;
  test::RandomTicks ticks_;
  market::StreamInfo info_;
  market::ReadStats stats_;
  market::Record record_;
};

TEST(MakeBars, Pitfall50TenTimesTheTradesNeedTheSameMemory) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer holds freed memory back, so the process grows by itself";
#endif
  const TempFolder folder;
  const auto peak = [&](std::int64_t n) {
    TradeReader reader(n, 20ms);
    make_bars(reader, {}, {.kind = BarKind::kVolume, .size = 100}, folder / "bars.csv");
    return static_cast<double>(reader.peak_kib);
  };
  peak(20'000);  // what the first run loads stays
  const double once = peak(40'000);
  const double ten = peak(400'000);
  EXPECT_GT(once, 0);
  EXPECT_LE(ten, 1.05 * once);  // the bound that was asked for
}

TEST(MakeBars, Pitfall30HolesAreSkippedOrFilledWithFlatBarsThatSaySo) {
  // Trades some four minutes apart over three sessions with a halt each.
  const auto run = [](Holes holes) {
    TradeReader reader(1'000, 240s);
    std::vector<EventBar> bars;
    const BarReport report =
        make_bars(reader, {}, {.holes = holes}, [&](const EventBar& bar) { bars.push_back(bar); });
    EXPECT_EQ(report.filled, std::ranges::count_if(bars, &EventBar::filled));
    return bars;
  };
  const auto some = run(Holes::kSkip), all = run(Holes::kFill);
  std::size_t next = 0;
  const auto session_of = [](const EventBar& bar) {
    return test::es_calendar().session_at(bar.start).value();
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto session = session_of(all[i]);
    ASSERT_FALSE(session.halted_at(all[i].start));
    ASSERT_LE(all[i].end, session.close);
    if (i > 0 && session_of(all[i - 1]) == session && all[i].start != session.halt_end) {
      ASSERT_EQ(all[i].start, all[i - 1].end) << i;
    }
    if (all[i].filled) {
      ASSERT_EQ(all[i].volume, 0U);
      ASSERT_EQ(all[i].close, all[i - 1].close);
      ASSERT_EQ(all[i].high, all[i].low);
      ASSERT_EQ(all[i].available_at, all[i].end);
      ASSERT_EQ(session_of(all[i - 1]), session);
    } else {
      ASSERT_EQ(all[i].start, some[next].start);
      ASSERT_EQ(all[i].close, some[next].close);
      ++next;
    }
  }
  EXPECT_EQ(next, some.size());
  EXPECT_GT(all.size(), some.size() * 2);
  TradeReader reader(10, 1s);
  EXPECT_THROW(make_bars(reader, {}, {.kind = BarKind::kTick, .holes = Holes::kFill},
                         [](const EventBar&) {}),
               ConfigError);
}

TEST(MakeBars, CsvReadsBackAndSaysWhatTheReportSays) {
  const TempFolder folder;
  const auto out = folder / "bars.csv";
  TradeReader reader(20'000, 500ms);
  const BarReport report = make_bars(reader, {}, {.kind = BarKind::kTime, .size = 60}, out);
  const auto back = market::open_reader(out);
  std::int64_t bars = 0;
  std::uint64_t volume = 0;
  while (const market::Record* record = back->next()) {
    ++bars;
    volume += std::get<market::Bar>(*record).volume;
  }
  EXPECT_EQ(bars, report.bars.bars);
  EXPECT_EQ(volume, report.volume);
  EXPECT_NE(report.to_text().find("bars of one contract"), std::string::npos) << report.to_text();
  EXPECT_NE(report.to_json().find("\"late\": 0"), std::string::npos);
}

TEST(MakeBars, Pitfall17TwoContractsInOneFileAreRefusedByName) {
  const auto bars = catalog("futures_trades_2024-07-01T23-58_2024-07-02T00-02.dbn.zst");
  REQUIRE_FILE(bars);
  EXPECT_THROW(
      make_bars(*market::open_reader(bars), {.symbol = "NQU4"}, {}, [](const EventBar&) {}),
      ConfigError);
  // DBN cannot hold volume bars.
  const TempFolder folder;
  EXPECT_THROW(make_bars(*market::open_reader(bars), {.symbol = "ESU4"},
                         {.kind = BarKind::kVolume, .size = 5}, folder / "x.dbn"),
               ConfigError);
  EXPECT_EQ(folder.entries(), 0);
}

/// One column of a comma separated file.
std::vector<double> column(const std::filesystem::path& path, std::size_t index) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  std::vector<double> values;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string field;
    for (std::size_t i = 0; i <= index; ++i) std::getline(fields, field, ',');
    values.push_back(std::stod(field));
  }
  return values;
}

TEST(MakeBars, PublishedEventBarsEndAsOursDo) {
  const auto folder = shared_folder() / "data/futures/es-event-bars";
  REQUIRE_FILE(folder);
  // Theirs are never split either: the sum stands at the size or above.
  for (const double ticks : column(folder / "tick_bars.csv", 7)) ASSERT_EQ(ticks, 2800);
  double below = 0, sum = 0;
  const auto volumes = column(folder / "volume_bars.csv", 5);
  for (const double volume : volumes) {
    below += volume < 28'000;
    sum += volume;
  }
  EXPECT_EQ(below, 0);
  EXPECT_LT(sum / static_cast<double>(volumes.size()), 28'000 * 1.02);
  for (const double value : column(folder / "dollar_bars.csv", 6)) ASSERT_GE(value, 70e6);
}

TEST(MakeBars, CoarserTickBarsOfPublishedBarsAddUp) {
  const auto path = shared_folder() / "data/futures/es-event-bars/imbalance_bars_3_100000.csv";
  REQUIRE_FILE(path);
  // Fine bars as if each were a trade at its close: their volume must come out whole.
  const auto reader = market::open_reader(path, {.csv = {.time_column = "date_time"}});
  BarBuilder builder({.kind = BarKind::kVolume, .size = 28'000}, test::es(), test::es_calendar());
  std::uint64_t in = 0, out = 0, largest = 0;
  const auto take = [&](std::span<const EventBar> bars) {
    for (const EventBar& bar : bars) {
      out += bar.volume;
      if (!bar.cut) {
        EXPECT_GE(bar.volume, 28'000U);
        EXPECT_LT(bar.volume, 28'000U + largest);
      }
    }
  };
  while (const market::Record* record = reader->next()) {
    const auto& bar = std::get<market::Bar>(*record);
    in += bar.volume;
    largest = std::max(largest, bar.volume);
    take(builder.push({.ts_event = bar.start,
                       .ts_recv = bar.start,
                       .price = bar.close,
                       .size = static_cast<std::uint32_t>(bar.volume)}));
  }
  take(builder.finish());
  EXPECT_EQ(in, out + builder.counters().outside_volume);
  EXPECT_EQ(builder.counters().ticks, 50'000);
}

}  // namespace
}  // namespace foxhunt::series
