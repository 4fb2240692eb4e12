#include "foxhunt/series/continuous.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/features/pipeline.h"
#include "foxhunt/market/bar_selector.h"
#include "foxhunt/market/contract.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::series {
namespace {

using market::Bar;
using market::Calendar;
using market::test::error_of;
using market::test::TempFolder;
using namespace std::chrono_literals;

const Calendar& es() {
  static const Calendar calendar = Calendar::for_product("ES");
  return calendar;
}
Price points(double price) {
  return Price{static_cast<std::int64_t>(std::lround(price * 4)) * 250'000'000};
}

struct Made {
  std::string symbol;
  std::vector<Bar> bars;
};

/// Minutes of two contracts over the sessions from `first` to `last`; the later one stands `gap`
/// points above the nearer and takes over the volume from session `takes_over` on.
std::vector<Made> two_contracts(const char* first, const char* last, const char* takes_over,
                                double gap, double level = 1700, const char* near = "ESH4",
                                const char* far = "ESM4") {
  std::vector<Made> made = {{near, {}}, {far, {}}};
  Rng rng(4);
  double price = level;
  const auto from = es().session_on(parse_date(first))->open;
  const auto until = es().session_on(parse_date(last))->close;
  for (const market::Session& session : es().sessions_between(from, until)) {
    const bool later = session.trade_date >= parse_date(takes_over);
    for (UnixNanos t = session.open; t < session.close; t += 13min) {
      if (session.halted_at(t)) continue;
      price += 0.25 * (static_cast<double>(rng.below(9)) - 4);
      for (std::size_t k = 0; k < 2; ++k) {
        const double p = price + (k == 1 ? gap : 0);
        made[k].bars.push_back({.instrument = {1, 7},
                                .start = t,
                                .span = 1min,
                                .open = points(p),
                                .high = points(p + 1),
                                .low = points(p - 1),
                                .close = points(p + 0.5),
                                .volume = (k == 1) == later ? 100U : 10U});
      }
    }
  }
  return made;
}

DailyTable table_of(const std::vector<Made>& made) {
  DailyTable table(es());
  for (const Made& contract : made)
    for (const Bar& bar : contract.bars) table.add(contract.symbol, bar);
  return table;
}

RollPlan plan_of(const std::vector<Made>& made, const RollConfig& config) {
  return plan_rolls(table_of(made).contracts(), config, es());
}

std::string csv_of(const Made& contract) {
  std::string text = "ts_event,symbol,open,high,low,close,volume\n";
  for (const Bar& bar : contract.bars) {
    const auto number = [](Price price) { return std::to_string(price.to_double()); };
    text += to_string(bar.start) + "," + contract.symbol + "," + number(bar.open) + "," +
            number(bar.high) + "," + number(bar.low) + "," + number(bar.close) + "," +
            std::to_string(bar.volume) + "\n";
  }
  return text;
}

TEST(RollPlan, ByVolumeActsInTheSessionAfterTheOneThatShowedIt) {
  const auto made = two_contracts("2014-03-06", "2014-03-21", "2014-03-13", -7.75);
  const RollPlan plan = plan_of(made, {});
  ASSERT_EQ(plan.rolls.size(), 1U);
  const Roll& roll = plan.rolls[0];
  EXPECT_EQ(roll.rule + to_string(roll.decided) + to_string(roll.first),
            "volume2014-03-132014-03-14");
  EXPECT_EQ(to_string(roll.priced), "2014-03-13");
  EXPECT_EQ(roll.to_price.nano - roll.from_price.nano, -7'750'000'000);
  EXPECT_EQ(plan.stretches[0].symbol, "ESH4");
  EXPECT_EQ(plan.stretches[0].end, plan.stretches[1].begin);
}

TEST(RollPlan, AHoleInTheFilesIsNoLossOfVolume) {
  auto made = two_contracts("2014-03-06", "2014-03-21", "2014-03-13", -7.75);
  const UnixNanos from = es().session_on(parse_date("2014-03-10"))->open;
  std::erase_if(made[0].bars,
                [&](const Bar& bar) { return bar.start >= from && bar.start < from + 20h; });
  EXPECT_EQ(to_string(plan_of(made, {}).rolls.at(0).decided), "2014-03-13");
}

TEST(RollPlan, RealVolumesOfDecember2013RollOnTheMonday) {
  // Daily volumes and closes of ESZ3 and ESH4 as in QuantConnect/Lean's sample (Apache-2.0).
  const struct {
    const char* date;
    double near_close, far_close;
    std::uint64_t near, far;
  } days[] = {{"2013-12-11", 1780.75, 1774.75, 1'514'064, 64'855},
              {"2013-12-12", 1773.75, 1767.5, 1'113'344, 354'874},
              {"2013-12-13", 1775, 1768.75, 347'764, 868'208},
              {"2013-12-16", 1785.25, 1779, 200'215, 1'013'308},
              {"2013-12-17", 1778.25, 1772, 155'199, 1'099'174},
              {"2013-12-18", 1810, 1803.75, 258'842, 2'107'664},
              {"2013-12-19", 1808, 1801.75, 106'656, 1'028'379},
              {"2013-12-20", 1810.25, 1816.5, 19'810, 1'134'383}};
  ContractDays near{"ESZ3", {2013, 12}, {}}, far{"ESH4", {2014, 3}, {}};
  for (const auto& day : days) {
    near.days[parse_date(day.date)] = {.volume = day.near, .close = points(day.near_close)};
    far.days[parse_date(day.date)] = {.volume = day.far, .close = points(day.far_close)};
  }
  const RollPlan volume = plan_rolls({near, far}, {.adjust = Adjust::kRatio}, es());
  ASSERT_EQ(volume.rolls.size(), 1U);
  EXPECT_EQ(to_string(volume.rolls[0].decided), "2013-12-13");
  EXPECT_EQ(to_string(volume.rolls[0].first), "2013-12-16");
  EXPECT_DOUBLE_EQ(volume.stretches[0].factor, 1768.75 / 1775);
  // By the calendar on the day on which it ends, as in Lean's map; Lean's factor file has the ratio
  // 0.996269 there, from prices of another moment: 6.75 points apart instead of 6.25.
  const RollPlan calendar =
      plan_rolls({near, far}, {.rule = RollRule::kCalendar, .adjust = Adjust::kRatio}, es());
  ASSERT_EQ(calendar.rolls.size(), 1U);
  EXPECT_EQ(to_string(calendar.rolls[0].decided), "2013-12-19");
  EXPECT_EQ(to_string(calendar.rolls[0].first), "2013-12-20");
  EXPECT_NEAR(calendar.stretches[0].factor, 0.9962691723089678, 2.0 * 0.25 / 1808 + 1e-9);
  // Open interest: counted on the 16th, published during the 17th, so decided at its close.
  RollConfig interest{.rule = RollRule::kOpenInterest};
  interest.open_interest["ESZ3"] = {{parse_date("2013-12-13"), 1'900'000},
                                    {parse_date("2013-12-16"), 1'701'691}};
  interest.open_interest["ESH4"] = {{parse_date("2013-12-13"), 1'200'000},
                                    {parse_date("2013-12-16"), 1'801'691}};
  const RollPlan open = plan_rolls({near, far}, interest, es());
  ASSERT_EQ(open.rolls.size(), 1U);
  EXPECT_EQ(to_string(open.rolls[0].decided), "2013-12-17");
  EXPECT_EQ(to_string(open.rolls[0].first), "2013-12-18");
  const RollPlan map = plan_rolls({near, far},
                                  {.rule = RollRule::kMap,
                                   .map = {{parse_date("2013-12-11"), "ESZ3"},
                                           {parse_date("2013-12-17"), "ESH4"},
                                           {parse_date("2014-03-18"), "ESM4"}}},
                                  es());
  ASSERT_EQ(map.rolls.size(), 1U);
  EXPECT_EQ(to_string(map.rolls[0].first), "2013-12-17");
  EXPECT_EQ(map.not_found, std::vector<std::string>{"ESM4"});
}

TEST(RollPlan, Pitfall24CalendarCountsBusinessDays) {
  const auto made = two_contracts("2014-03-06", "2014-03-21", "2014-03-30", -7.75);
  // Expiry is Friday 2014-03-21; four business days before is the Monday of that week.
  for (const auto& [days_before, first] : {std::pair{0, "2014-03-21"}, {4, "2014-03-17"}}) {
    const RollPlan plan = plan_of(made, {.rule = RollRule::kCalendar, .days_before = days_before});
    ASSERT_EQ(plan.rolls.size(), 1U);
    EXPECT_EQ(to_string(plan.rolls[0].first), first);
    EXPECT_EQ(plan.rolls[0].rule, "calendar");
  }
  // Volume never moves over: the end of the contract does.
  EXPECT_EQ(plan_of(made, {}).rolls.at(0).rule, "expiry");
}

TEST(RollPlan, DecisionsDoNotDependOnWhatComesLater) {
  const auto made = two_contracts("2014-03-06", "2014-03-21", "2014-03-13", -7.75);
  const auto all = table_of(made).contracts();
  for (const RollRule rule : {RollRule::kVolume, RollRule::kCalendar}) {
    const RollConfig config{.rule = rule};
    const RollPlan whole = plan_rolls(all, config, es());
    for (const char* cut : {"2014-03-12", "2014-03-14", "2014-03-19", "2014-03-21"}) {
      auto poisoned = all;
      auto shorter = all;
      for (std::size_t k = 0; k < all.size(); ++k) {
        for (auto& [date, day] : poisoned[k].days)
          if (date >= parse_date(cut)) day = {.volume = 1'000'000 * k, .close = points(9)};
        std::erase_if(shorter[k].days, [&](const auto& d) { return d.first >= parse_date(cut); });
      }
      for (const auto& contracts : {poisoned, shorter}) {
        const RollPlan plan = plan_rolls(contracts, config, es());
        const auto decided_before = [&](const RollPlan& p) {
          std::vector<std::pair<std::string, Price>> rolls;
          for (const Roll& roll : p.rolls)
            if (roll.decided < parse_date(cut) && roll.first < parse_date(cut))
              rolls.emplace_back(to_string(roll.first), roll.to_price);
          return rolls;
        };
        EXPECT_EQ(decided_before(plan), decided_before(whole)) << cut;
      }
    }
  }
}

TEST(RollPlan, Pitfall25WhatIsNotThereIsNamed) {
  const auto made =
      two_contracts("2014-03-06", "2014-03-21", "2014-03-13", -7.75, 1700, "ESH4", "ESU4");
  const RollPlan plan = plan_of(made, {.rule = RollRule::kCalendar});
  EXPECT_EQ(plan.not_found, std::vector<std::string>{"ESM2014"});
  EXPECT_THROW(plan_of(made, {.months = "F"}), DataError);
  EXPECT_THROW(plan_of(made, {.months = "HA"}), ConfigError);
}

TEST(Continuous, DifferenceKeepsMovesAndRatioKeepsReturns) {
  const auto made = two_contracts("2014-03-06", "2014-03-21", "2014-03-13", -7.75);
  for (const Anchor anchor : {Anchor::kLast, Anchor::kFirst}) {
    for (const Adjust adjust : {Adjust::kNone, Adjust::kDifference, Adjust::kRatio}) {
      const RollPlan plan = plan_of(made, {.adjust = adjust, .anchor = anchor});
      const Roll& roll = plan.rolls[0];
      ContinuousBuilder builder(plan, adjust);
      std::optional<Bar> last;
      const Bar* raw_last = nullptr;
      for (std::size_t i = 0; i < made[0].bars.size(); ++i) {
        std::optional<Bar> taken;
        const Bar* raw = nullptr;
        for (std::size_t k = 0; k < 2; ++k) {
          const auto got = builder.take({made[k].symbol, made[k].bars[i]});
          if (!got) continue;
          ASSERT_FALSE(taken) << "two contracts at one time";
          taken = got;
          raw = &made[k].bars[i];
        }
        ASSERT_TRUE(taken);
        EXPECT_EQ(taken->instrument.instrument_id, taken->start < roll.at ? 1U : 2U);
        const bool as_traded =
            adjust == Adjust::kNone || (anchor == Anchor::kLast) == (taken->start >= roll.at);
        if (as_traded) {
          ASSERT_EQ(taken->close, raw->close);
        }
        ASSERT_LE(taken->low, std::min(taken->open, taken->close));
        ASSERT_GE(taken->high, std::max(taken->open, taken->close));
        if (last && last->instrument == taken->instrument) {
          if (adjust == Adjust::kDifference) {
            ASSERT_EQ(taken->close.nano - last->close.nano, raw->close.nano - raw_last->close.nano);
          } else {
            // Two prices rounded to 1e-9 of about 1700.
            ASSERT_NEAR(std::log(taken->close.to_double() / last->close.to_double()),
                        std::log(raw->close.to_double() / raw_last->close.to_double()), 2e-12);
          }
        }
        last = taken;
        raw_last = raw;
      }
      // Across the roll both meet: the old contract's close at the decision becomes the new one's.
      const Price from = roll.from_price, to = roll.to_price;
      const Stretch &a = plan.stretches[0], &b = plan.stretches[1];
      if (adjust == Adjust::kDifference) {
        EXPECT_EQ(from.nano + a.offset, to.nano + b.offset);
      }
      if (adjust == Adjust::kRatio) {
        EXPECT_NEAR(from.to_double() * a.factor, to.to_double() * b.factor, 1e-9);
      }
    }
  }
}

TEST(Continuous, Pitfall23TheSameRollsAndFactorsAtEveryLengthOfBar) {
  // 2014-03-09 is the change to daylight saving time: sessions open at 23:00 UTC before, 22:00
  // after.
  const auto minutes = two_contracts("2014-03-06", "2014-03-21", "2014-03-13", -7.75);
  std::vector<Made> hours;
  for (const Made& contract : minutes) {
    hours.push_back({contract.symbol, {}});
    for (const Bar& bar : contract.bars) {
      const UnixNanos start = std::chrono::floor<std::chrono::hours>(bar.start);
      auto& all = hours.back().bars;
      if (all.empty() || all.back().start != start) {
        all.push_back(bar);
        all.back().start = start;
        all.back().span = 1h;
        continue;
      }
      all.back().close = bar.close;
      all.back().high = std::max(all.back().high, bar.high);
      all.back().low = std::min(all.back().low, bar.low);
      all.back().volume += bar.volume;
    }
  }
  const RollConfig config{.adjust = Adjust::kRatio};
  const RollPlan a = plan_of(minutes, config), b = plan_of(hours, config);
  ASSERT_EQ(a.rolls.size(), 1U);
  ASSERT_EQ(b.rolls.size(), 1U);
  EXPECT_EQ(a.rolls[0].at, b.rolls[0].at);
  EXPECT_EQ(a.stretches[0].factor, b.stretches[0].factor);
  EXPECT_EQ(a.rolls[0].from_price, b.rolls[0].from_price);
  EXPECT_EQ(to_string(a.rolls[0].at), "2014-03-13T22:00:00Z");
  const RollPlan early =
      plan_of(two_contracts("2014-03-03", "2014-03-21", "2014-03-05", -7.75), {});
  EXPECT_EQ(to_string(early.rolls.at(0).at), "2014-03-05T23:00:00Z");
}

TEST(Continuous, Pitfall16NegativePricesAreAdjustedByDifferenceAlone) {
  const auto made = two_contracts("2014-03-06", "2014-03-21", "2014-03-13", 3, -40);
  const std::string text = error_of<DataError>([&] { plan_of(made, {.adjust = Adjust::kRatio}); });
  EXPECT_NE(text.find("adjust by difference"), std::string::npos) << text;
  const RollPlan plan = plan_of(made, {.adjust = Adjust::kDifference});
  ContinuousBuilder builder(plan, Adjust::kDifference);
  EXPECT_EQ(builder.take({"ESH4", made[0].bars[0]})->close.nano,
            made[0].bars[0].close.nano + 3'000'000'000);
  // A price below 0 between rolls is refused where it stands.
  ContinuousBuilder ratio(plan, Adjust::kRatio);
  EXPECT_NE(error_of<DataError>([&] {
              ratio.take({"ESH4", made[0].bars[0]});
            }).find("ESH4"),
            std::string::npos);
}

TEST(Continuous, FilesBecomeASeriesThatTrainingTakesAsItIs) {
  const TempFolder folder;
  const auto made = two_contracts("2014-03-06", "2014-03-21", "2014-03-13", -7.75);
  write_file_atomic(folder / "h.csv", csv_of(made[0]));
  write_file_atomic(folder / "m.csv", csv_of(made[1]));
  const ContinuousJob job{.config = {.adjust = Adjust::kRatio}};
  for (const char* name : {"es.dbn.zst", "es.csv"}) {
    const auto out = folder / name;
    const ContinuousReport report = make_continuous({folder / "m.csv", folder / "h.csv"}, job, out);
    EXPECT_EQ(report.bars, static_cast<std::int64_t>(made[0].bars.size()));
    EXPECT_EQ(report.other_contracts, report.bars);
    EXPECT_NE(
        report.rolls_csv().find("volume,2014-03-13,2014-03-14,2014-03-13T22:00:00Z,ESH4,ESM4"),
        std::string::npos)
        << report.rolls_csv();
    EXPECT_NE(report.to_json().find(report.inputs[1].sha256), std::string::npos);
    EXPECT_NE(report.to_text().find("2014-03-14 ESH4"), std::string::npos) << report.to_text();

    // Side by side the contracts are refused; as a series they pass, and no sequence spans the
    // roll.
    market::BarSelector selector({.product = "ES"});
    features::FeaturePipeline pipeline({}, es(), market::contract_for_product("ES"));
    std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
    const auto reader = market::open_reader(out);
    std::vector<std::string> symbols;
    std::int64_t bars = 0;
    while (const Bar* bar = selector.next(*reader)) {
      ++bars;
      const bool starts = pipeline.push(*bar, row).starts_sequence;
      if (symbols.empty() || symbols.back() != selector.symbol()) {
        symbols.push_back(selector.symbol());
        EXPECT_TRUE(starts);
      }
    }
    EXPECT_EQ(bars, report.bars);
    EXPECT_EQ(symbols, (std::vector<std::string>{"ESH4", "ESM4"}));
  }
}

TEST(MergedBars, Pitfall31TheSameBarTwiceIsDroppedAndAnotherRefused) {
  const TempFolder folder;
  auto made = two_contracts("2014-03-06", "2014-03-07", "2014-03-13", 1);
  write_file_atomic(folder / "a.csv", csv_of(made[0]));
  made[0].bars[3].volume += 1;
  write_file_atomic(folder / "b.csv", csv_of(made[0]));
  const auto run = [&](const char* second, Conflict conflict) {
    MergedBars::Readers readers;
    readers.push_back(market::open_reader(folder / "a.csv"));
    readers.push_back(market::open_reader(folder / second));
    MergedBars bars(std::move(readers), {"a.csv", "b.csv"}, "ES", conflict);
    while (bars.next() != nullptr) {
    }
    return bars.counters();
  };
  const auto n = static_cast<std::int64_t>(made[0].bars.size());
  const MergeCounters same = run("a.csv", Conflict::kRefuse);
  EXPECT_EQ(same.bars, n);
  EXPECT_EQ(same.duplicates, n);
  EXPECT_EQ(same.records, same.bars + same.duplicates);
  const std::string text = error_of<DataError>([&] { run("b.csv", Conflict::kRefuse); });
  EXPECT_NE(text.find("b.csv"), std::string::npos) << text;
  EXPECT_EQ(run("b.csv", Conflict::kFirst).duplicates, n);
}

TEST(Continuous, TablesAreReadOrRefusedByLine) {
  const TempFolder folder;
  const auto path = folder / "t.csv";
  write_file_atomic(path, "first_session,symbol\n2013-12-17,ESH4\n2014-03-18,ESM4\n");
  EXPECT_EQ(read_roll_map(path).at(parse_date("2014-03-18")), "ESM4");
  write_file_atomic(path, "first_session,symbol\n2013-13-17,ESH4\n");
  EXPECT_NE(error_of<DataError>([&] { read_roll_map(path); }).find("t.csv:2"), std::string::npos);
  write_file_atomic(path, "date,symbol,open_interest\n2013-12-16,ESH4,5\n2013-12-17,ESH4,-5\n");
  EXPECT_NE(error_of<DataError>([&] { read_open_interest(path); }).find("t.csv:3"),
            std::string::npos);
  write_file_atomic(path, "date;symbol\n");
  EXPECT_THROW(read_open_interest(path), DataError);
}

}  // namespace
}  // namespace foxhunt::series
