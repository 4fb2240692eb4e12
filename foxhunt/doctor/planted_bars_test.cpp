// Faults planted in real bars: each must be found by its rule, at its place, as often as it was
// planted, and no other error beside it. The sample itself has none.
#include "foxhunt/doctor/planted_bars.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ostream>

namespace foxhunt::doctor {
namespace {

using market::Bar;
using std::chrono::hours;
using std::chrono::minutes;
using test::Bars;

constexpr std::int64_t kOne = Price::kUnitsPerOne;
constexpr Price kTick{kOne / 4};
/// In the middle of the session of 2013-10-09; minutes follow one another around it.
constexpr std::size_t kPlace = 4000;

Price plus(Price p, std::int64_t ticks) { return Price{p.nano + ticks * kTick.nano}; }

void scale(Bar& bar, std::int64_t by, std::int64_t over = 1) {
  for (Price* p : {&bar.open, &bar.high, &bar.low, &bar.close})
    p->nano = p->nano * by / over / kTick.nano * kTick.nano;
}

/// Renames the contract: the same prices under another symbol.
void call_it(Bars& data, const std::string& symbol) {
  data.info.symbols = {symbol};
  for (auto& mapping : data.info.mappings) mapping.raw_symbol = symbol;
}

/// The bars of ESZ13 alone.
Bars one_contract() {
  Bars data = test::es_sample();
  std::erase_if(data.bars, [](const Bar& bar) { return bar.instrument.instrument_id != 201312; });
  return data;
}

struct Planted {
  const char* name;
  RuleId rule;
  std::int64_t count;   ///< more than in the sample itself
  std::int64_t record;  ///< where it begins; 0: about the whole file
  std::function<Bars()> make;
  /// Errors that the same fault must raise beside.
  std::vector<RuleId> also{};

  friend void PrintTo(const Planted& p, std::ostream* out) { *out << p.name; }
};

/// A fault of one bar.
Planted in_bar(const char* name, RuleId rule, const std::function<void(Bar&)>& change,
               std::vector<RuleId> also = {}) {
  return {name,
          rule,
          1,
          kPlace + 1,
          [change] {
            Bars data = test::es_sample();
            change(data.bars[kPlace]);
            return data;
          },
          std::move(also)};
}

/// A fault of the whole file.
Planted in_file(const char* name, RuleId rule, std::int64_t count, std::int64_t record,
                const std::function<void(Bars&)>& change, std::vector<RuleId> also = {}) {
  return {name,
          rule,
          count,
          record,
          [change] {
            Bars data = test::es_sample();
            change(data);
            return data;
          },
          std::move(also)};
}

std::int64_t all() { return std::ssize(test::es_sample().bars); }

const std::vector<Planted>& planted() {
  static const std::vector<Planted> list{
      in_file("TwoBarsSwapped", RuleId::kBackStep, 1, kPlace + 2,
              [](Bars& d) { std::swap(d.bars[kPlace], d.bars[kPlace + 1]); }),
      in_file("ABlockOfBarsTwice", RuleId::kBackStep, 29, kPlace + 31,
              [](Bars& d) {
                const std::vector<Bar> block(d.bars.begin() + kPlace, d.bars.begin() + kPlace + 30);
                d.bars.insert(d.bars.begin() + kPlace + 30, block.begin(), block.end());
              }),
      in_file("ABarTwice", RuleId::kDuplicate, 1, kPlace + 2,
              [](Bars& d) { d.bars.insert(d.bars.begin() + kPlace, d.bars[kPlace]); }),
      in_file("ABarTwiceWithOtherValues", RuleId::kConflict, 1, kPlace + 2,
              [](Bars& d) {
                Bar other = d.bars[kPlace];
                other.volume += 1;
                d.bars.insert(d.bars.begin() + kPlace + 1, other);
              }),
      in_bar("NoTime", RuleId::kNoTime, [](Bar& b) { b.start = kNullTime; }),
      in_bar("NoClose", RuleId::kNoPrice, [](Bar& b) { b.close = Price::null(); }),
      in_bar("AnUndefinedPriceAsANumber", RuleId::kSentinel,
             [](Bar& b) { b.high = Price{9'223'372'036 * kOne}; }, {RuleId::kSpike}),
      in_bar("AnUndefinedVolumeAsANumber", RuleId::kSentinel,
             [](Bar& b) { b.volume = 4'294'967'295; }),
      in_bar("APriceOfZero", RuleId::kNotPositive, [](Bar& b) { b.low = Price{0}; }),
      in_bar("ANegativePrice", RuleId::kNotPositive, [](Bar& b) { b.low = Price{-3 * kOne}; }),
      in_bar("HighBelowLow", RuleId::kOhlc, [](Bar& b) { b.high = plus(b.low, -1); }),
      in_bar("CloseAboveHigh", RuleId::kOhlc, [](Bar& b) { b.close = plus(b.high, 2); }),
      in_bar("APriceBetweenTicks", RuleId::kOffTick,
             [](Bar& b) { b.high = Price{b.high.nano + kOne / 10}; }),
      in_file("AllPricesTimesHundred", RuleId::kWrongScale, all(), 1,
              [](Bars& d) { std::ranges::for_each(d.bars, [](Bar& b) { scale(b, 100); }); }),
      in_bar("OneBarTimesHundred", RuleId::kScaleJump, [](Bar& b) { scale(b, 100); },
             {RuleId::kWrongScale}),
      in_file("ThreeBarsTimesTen", RuleId::kScaleJump, 3, kPlace + 1,
              [](Bars& d) {
                for (std::size_t i = 0; i < 3; ++i) scale(d.bars[kPlace + i], 10);
              }),
      in_file("AHundredthFromHereOn", RuleId::kScaleJump, 1, kPlace + 1,
              [](Bars& d) {
                std::erase_if(d.bars,
                              [](const Bar& b) { return b.instrument.instrument_id != 201312; });
                for (std::size_t i = kPlace; i < d.bars.size(); ++i) scale(d.bars[i], 1, 100);
              },
              {RuleId::kWrongScale}),
      in_bar("ALowOfNearlyNothing", RuleId::kSpike, [](Bar& b) { b.low = kTick; }),
      in_bar("OneBarHalfHigher", RuleId::kSpike, [](Bar& b) { scale(b, 3, 2); }),
      in_bar("AWickOfFortyPoints", RuleId::kOutlier, [](Bar& b) { b.high = plus(b.high, 160); }),
      in_file("FilledUpMinutes", RuleId::kFiller, 10, kPlace + 1,
              [](Bars& d) {
                for (std::size_t i = kPlace; i < kPlace + 10; ++i) {
                  Bar& b = d.bars[i];
                  b.open = b.high = b.low = b.close = d.bars[kPlace - 1].close;
                  b.volume = 0;
                }
              }),
      in_bar("ABarWithoutVolume", RuleId::kZeroVolume, [](Bar& b) { b.volume = 0; }),
      in_file("AFeedThatStandsStill", RuleId::kStaleBar, 5, kPlace + 1,
              [](Bars& d) {
                d.bars[kPlace].high = plus(d.bars[kPlace].high, 1);
                for (std::size_t i = kPlace + 1; i < kPlace + 5; ++i) {
                  const UnixNanos start = d.bars[i].start;
                  d.bars[i] = d.bars[kPlace];
                  d.bars[i].start = start;
                }
              }),
      in_bar("AVolumeTimesAMillion", RuleId::kVolumeOutlier, [](Bar& b) { b.volume *= 1'000'000; }),
      in_file("VolumesAddedUp", RuleId::kCumulativeVolume, all(), 1,
              [](Bars& d) {
                std::uint64_t total = 0;
                for (Bar& b : d.bars) b.volume = total += b.volume;
              }),
      in_file("OneVolumeForAll", RuleId::kConstantColumn, 3, 1,
              [](Bars& d) { std::ranges::for_each(d.bars, [](Bar& b) { b.volume = 7; }); }),
      in_file("AnHourAmongMinutes", RuleId::kMixedLengths, 1, 0,
              [](Bars& d) { d.bars[kPlace].span = hours{1}; }),
      in_file("TimesOfChicagoTakenForUtc", RuleId::kWrongZone, all(), 0,
              [](Bars& d) {
                std::ranges::for_each(d.bars, [](Bar& b) { b.start -= hours{5}; });
                for (auto& mapping : d.info.mappings) {  // else the first hours have no symbol
                  mapping.start = Date{std::chrono::sys_days{mapping.start} - std::chrono::days{1}};
                }
              }),
      in_file(
          "BarsStampedWithTheirEnd", RuleId::kWrongStamp, 0, 0,
          [](Bars& d) { std::ranges::for_each(d.bars, [](Bar& b) { b.start += minutes{1}; }); }),
      in_file(
          "EndStampsTakenTwice", RuleId::kWrongStamp, 0, 0,
          [](Bars& d) { std::ranges::for_each(d.bars, [](Bar& b) { b.start -= minutes{1}; }); }),
      in_file("ABarOnASaturday", RuleId::kOutsideSession, 1, 0,
              [](Bars& d) {
                const auto day = std::ranges::find_if(
                    d.bars, [](const Bar& b) { return b.start > parse_time("2013-10-12"); });
                Bar bar = *day;
                bar.start = parse_time("2013-10-12T12:00");
                d.bars.insert(day, bar);
              }),
      in_file("AnHourCutOut", RuleId::kMissingBars, 60, 0,
              [](Bars& d) { d.bars.erase(d.bars.begin() + kPlace, d.bars.begin() + kPlace + 60); }),
      in_file("ASessionCutOut", RuleId::kMissingSessions, 1, 0,
              [](Bars& d) {
                std::erase_if(d.bars, [](const Bar& b) {
                  return b.start >= parse_time("2013-10-08T22:00") &&
                         b.start < parse_time("2013-10-09T21:15");
                });
              }),
      in_file("AnIdWithoutASymbol", RuleId::kUnmappedId, 5, 0,
              [](Bars& d) {
                for (std::size_t i = kPlace; i < kPlace + 5; ++i)
                  d.bars[i].instrument.instrument_id = 999;
              }),
      in_file("AnotherIdFromHereOn", RuleId::kRoll, 1, kPlace + 1,
              [](Bars& d) {
                auto mapping = d.info.mappings.front();
                mapping.instrument_id = 777;
                d.info.mappings.push_back(mapping);
                for (std::size_t i = kPlace; i < 15'002; ++i)
                  d.bars[i].instrument.instrument_id = 777;
              }),
      in_file("TwoContractsSideBySide", RuleId::kMixedContracts, 2, 0,
              [](Bars& d) {
                auto mapping = d.info.mappings.front();
                mapping.instrument_id = 777;
                mapping.raw_symbol = "ESM14";
                d.info.mappings.push_back(mapping);
                for (std::size_t i = kPlace; i < kPlace + 9; i += 2)
                  d.bars[i].instrument.instrument_id = 777;
              }),
      in_file("ASpreadAmongOutrights", RuleId::kMixedContracts, 2, 0,
              [](Bars& d) {
                auto mapping = d.info.mappings.front();
                mapping.instrument_id = 777;
                mapping.raw_symbol = "ESZ3-ESH4";
                d.info.mappings.push_back(mapping);
                Bar& b = d.bars[kPlace];
                b.instrument.instrument_id = 777;
                b.open = b.high = b.low = b.close = Price{-6 * kOne};
              }),
      {"ASplitOfAShare", RuleId::kSplit, 1, kPlace + 1,
       [] {
         Bars data = one_contract();
         call_it(data, "SPY");
         for (std::size_t i = kPlace; i < data.bars.size(); ++i) scale(data.bars[i], 1, 2);
         return data;
       }},
      {"ARollWithoutAMark", RuleId::kUnmarkedRoll, 1, 0,
       [] {
         Bars data = test::es_sample();
         call_it(data, "ES.c.0");
         for (Bar& bar : data.bars) {
           bar.instrument.instrument_id = data.info.mappings.front().instrument_id;
           if (bar.start < parse_time("2013-12-18T22:30")) continue;
           for (Price* p : {&bar.open, &bar.high, &bar.low, &bar.close}) *p = plus(*p, 320);
         }
         for (auto& mapping : data.info.mappings) {
           mapping = data.info.mappings.front();
           mapping.end = parse_date("2021-01-01");
         }
         return data;
       }},
      in_file("SymbolsOneBehindTheOther", RuleId::kFileOrder, 0, 0,
              [](Bars& d) { std::ranges::rotate(d.bars, d.bars.begin() + 15'002); }),
      in_file("ASymbolThatIsNotThere", RuleId::kMissingSymbols, 2, 0,
              [](Bars& d) {
                d.info.not_found = {"ESX9", "ESY9"};
              }),
      in_file("ASymbolThatIsThereInPart", RuleId::kPartialSymbols, 1, 0,
              [](Bars& d) { d.info.partial = {"ESZ13"}; }),
      in_file("AnIdThatWasAnother", RuleId::kIdReuse, 1, 0,
              [](Bars& d) {
                auto mapping = d.info.mappings.front();
                mapping.raw_symbol = "NQH3";
                mapping.start = parse_date("2012-01-01");
                mapping.end = parse_date("2012-02-01");
                d.info.mappings.insert(d.info.mappings.begin(), mapping);
              }),
  };
  return list;
}

class PlantedInBars : public testing::TestWithParam<Planted> {};

TEST_P(PlantedInBars, IsFoundAtItsPlaceAsOftenAsItIsThere) {
  const Planted& fault = GetParam();
  const FileReport clean = test::check(test::es_sample());
  const FileReport report = test::check(fault.make());
  const auto found = test::find(report, fault.rule);
  ASSERT_TRUE(found) << "errors: " << test::errors_of(report);
  if (fault.count > 0) {
    EXPECT_EQ(found->count - test::count(clean, fault.rule), fault.count) << found->example;
  }
  if (fault.record > 0) {
    EXPECT_EQ(found->first.record, fault.record) << found->example;
  }
  EXPECT_FALSE(found->example.empty());
  for (const RuleId id : fault.also) EXPECT_GT(test::count(report, id), 0) << rule(id).name;
  for (const Finding& other : report.findings) {
    if (other.rule->severity != Severity::kError || other.rule->id == fault.rule) continue;
    EXPECT_NE(std::ranges::find(fault.also, other.rule->id), fault.also.end())
        << other.rule->name << " " << other.count << ": " << other.example;
  }
}

INSTANTIATE_TEST_SUITE_P(Doctor, PlantedInBars, testing::ValuesIn(planted()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(PlantedInBarsToo, TheSampleItselfHasNoError) {
  const FileReport report = test::check(test::es_sample());
  EXPECT_EQ(test::errors_of(report), "");
  EXPECT_EQ(report.bars, 19'083);
  EXPECT_EQ(test::count(report, RuleId::kRoll), 2) << "three contracts";
}

TEST(PlantedInBarsToo, ErrorsQuarantineTheirDay) {
  Bars data = test::es_sample();
  data.bars[kPlace].high = plus(data.bars[kPlace].low, -1);
  const FileReport report = test::check(data);
  ASSERT_EQ(report.bad_days.size(), 1U);
  const auto day = std::chrono::floor<std::chrono::days>(data.bars[kPlace].start);
  EXPECT_EQ(report.bad_days.begin()->first, day.time_since_epoch().count());
  EXPECT_EQ(report.bad_days.begin()->second, 1);
}

}  // namespace
}  // namespace foxhunt::doctor
