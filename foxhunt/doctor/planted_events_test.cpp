// Faults planted in real trades, quotes and orders of CME (FOXHUNT_SHARED).
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>

#include "foxhunt/doctor/planted_bars.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::doctor {
namespace {

using market::OrderEvent;
using market::Record;
using market::TopOfBook;
using market::Trade;

struct Events {
  market::StreamInfo info;
  std::vector<Record> records;
};

const Events& read(const std::string& schema) {
  static std::map<std::string, Events> known;
  const auto [place, is_new] = known.try_emplace(schema);
  if (!is_new) return place->second;
  const auto folder = market::test::shared_folder() / "data";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           folder / (schema == "mbo" ? "futures/es-mbo" : "dbn/nautilus"))) {
    if (entry.path().extension() != ".zst") continue;
    const auto reader = market::open_reader(entry.path());
    if (reader->info().schema != schema) continue;
    Events events;
    while (const Record* record = reader->next()) events.records.push_back(*record);
    events.info = reader->info();
    // The longest one.
    if (events.records.size() > place->second.records.size()) place->second = std::move(events);
  }
  return place->second;
}

FileReport check(const Events& events) {
  market::test::FakeReader reader({}, events.info);
  for (const Record& record : events.records) reader.add(record);
  return check_records(reader);
}

struct Planted {
  const char* name;
  const char* schema;
  RuleId rule;
  std::int64_t count;   ///< more than in the file itself
  std::int64_t record;  ///< 0: wherever
  std::function<void(std::vector<Record>&)> change;

  friend void PrintTo(const Planted& p, std::ostream* out) { *out << p.name; }
};

constexpr std::size_t kPlace = 60;

const std::vector<Planted>& planted() {
  static const std::vector<Planted> list{
      {"SidesTheWrongWayRound", "mbo", RuleId::kAggressorInverted, 664, 0,
       [](std::vector<Record>& all) {
         for (Record& r : all) {
           auto& event = std::get<OrderEvent>(r);
           if (event.action != 'T' || event.side == market::Side::kNone) continue;
           event.side = event.side == market::Side::kBid ? market::Side::kAsk : market::Side::kBid;
         }
       }},
      {"AnOrderThatWasNeverAdded", "mbo", RuleId::kUnknownOrder, 1, 0,
       [](std::vector<Record>& all) {
         // An add whose next word is its cancel.
         for (std::size_t i = 20'000; i < all.size(); ++i) {
           const auto& add = std::get<OrderEvent>(all[i]);
           if (add.action != 'A') continue;
           for (std::size_t k = i + 1; k < all.size(); ++k) {
             const auto& next = std::get<OrderEvent>(all[k]);
             if (next.order_id != add.order_id) continue;
             if (next.action != 'C') break;
             all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
             return;
           }
         }
       }},
      {"AFlagOfAGap", "mbo", RuleId::kMaybeBadBook, 1, 20'001,
       [](std::vector<Record>& all) {
         std::get<OrderEvent>(all[20'000]).flags |= market::flag::kMaybeBadBook;
       }},
      {"AFlagOfABadClock", "mbo", RuleId::kBadTsRecv, 1, 20'001,
       [](std::vector<Record>& all) {
         std::get<OrderEvent>(all[20'000]).flags |= market::flag::kBadTsRecv;
       }},
      {"ASequenceThatFalls", "trades", RuleId::kSequenceBack, 1, kPlace + 1,
       [](std::vector<Record>& all) { std::get<Trade>(all[kPlace]).sequence -= 1'000'000; }},
      {"ATradeTwice", "trades", RuleId::kDuplicate, 1, kPlace + 2,
       [](std::vector<Record>& all) { all.insert(all.begin() + kPlace, all[kPlace]); }},
      {"ReceivedBeforeItHappened", "trades", RuleId::kRecvBeforeEvent, 1, kPlace + 1,
       [](std::vector<Record>& all) {
         auto& trade = std::get<Trade>(all[kPlace]);
         trade.ts_event = trade.ts_recv + std::chrono::milliseconds{5};
       }},
      {"AStepBack", "trades", RuleId::kBackStep, 1, kPlace + 1,
       [](std::vector<Record>& all) {
         std::get<Trade>(all[kPlace]).ts_recv -= std::chrono::hours{1};
       }},
      {"ATradeWithoutAPrice", "trades", RuleId::kNoPrice, 1, kPlace + 1,
       [](std::vector<Record>& all) { std::get<Trade>(all[kPlace]).price = Price::null(); }},
      {"ATradeWithoutASize", "trades", RuleId::kZeroSize, 1, kPlace + 1,
       [](std::vector<Record>& all) { std::get<Trade>(all[kPlace]).size = 0; }},
      {"ATradeBetweenTicks", "trades", RuleId::kOffTick, 1, kPlace + 1,
       [](std::vector<Record>& all) { std::get<Trade>(all[kPlace]).price.nano += 100'000'000; }},
      {"ATradeTimesAHundred", "trades", RuleId::kScaleJump, 1, kPlace + 1,
       [](std::vector<Record>& all) { std::get<Trade>(all[kPlace]).price.nano *= 100; }},
      {"AQuoteCrossed", "mbp-1", RuleId::kCrossed, 1, kPlace + 1,
       [](std::vector<Record>& all) {
         auto& level = std::get<TopOfBook>(all[kPlace]).level;
         std::swap(level.bid, level.ask);
       }},
      {"EveryTenthQuoteCrossed", "mbp-1", RuleId::kCrossedOften, 0, 1,
       [](std::vector<Record>& all) {
         for (std::size_t i = 0; i < all.size(); i += 10) {
           auto& level = std::get<TopOfBook>(all[i]).level;
           std::swap(level.bid, level.ask);
         }
       }},
      {"AnAskFarAway", "mbp-1", RuleId::kWideSpread, 1, kPlace + 1,
       [](std::vector<Record>& all) {
         std::get<TopOfBook>(all[kPlace]).level.ask.nano += 100 * Price::kUnitsPerOne;
       }},
      {"AQuoteThatStandsStill", "mbp-1", RuleId::kStaleQuote, 0, 0,
       [](std::vector<Record>& all) {
         market::BookLevel level = std::get<TopOfBook>(all[0]).level;
         level.bid.nano -= 20 * Price::kUnitsPerOne;
         level.ask.nano -= 20 * Price::kUnitsPerOne;
         for (Record& r : all) std::get<TopOfBook>(r).level = level;
       }},
  };
  return list;
}

class PlantedInEvents : public testing::TestWithParam<Planted> {};

TEST_P(PlantedInEvents, IsFoundAtItsPlaceAsOftenAsItIsThere) {
  if (market::test::shared_folder().empty()) GTEST_SKIP() << "FOXHUNT_SHARED is not set";
  const Planted& fault = GetParam();
  const Events& real = read(fault.schema);
  ASSERT_GT(real.records.size(), kPlace + 10);
  const FileReport clean = check(real);
  EXPECT_EQ(test::errors_of(clean), "");
  Events events = real;
  fault.change(events.records);
  const FileReport report = check(events);
  const auto found = test::find(report, fault.rule);
  ASSERT_TRUE(found) << "errors: " << test::errors_of(report);
  if (fault.count > 0) {
    EXPECT_EQ(found->count - test::count(clean, fault.rule), fault.count) << found->example;
  }
  if (fault.record > 0) {
    EXPECT_EQ(found->first.record, fault.record) << found->example;
  }
}

INSTANTIATE_TEST_SUITE_P(Doctor, PlantedInEvents, testing::ValuesIn(planted()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace foxhunt::doctor
