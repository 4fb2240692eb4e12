// Values that hold a part of their record, and symbols that a live stream tells. (Values that hold
// a whole record are held to the golden text in dbn_golden_test.cpp.)
#include "foxhunt/market/dbn/values.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market::dbn {
namespace {

using test::bar_record;
using test::plain_metadata;
using test::record_head;

constexpr std::uint64_t kDay = 86'400'000'000'000;
constexpr std::uint64_t kNone = ~std::uint64_t{0};

std::string mapping(std::uint32_t id, std::string_view symbol, std::uint64_t ts_event,
                    std::uint64_t start = kNone, std::uint64_t end = kNone) {
  return record_head(0x16, 176, ts_event, id)
      .add(std::uint8_t{4})
      .text("ES.FUT", 71)
      .add(std::uint8_t{0xFF})
      .text(symbol, 71)
      .add(start)
      .add(end)
      .str();
}

std::string symbol_at(const Reader& reader, std::uint32_t id, std::uint64_t t) {
  return reader.symbol_of({1, id}, from_nanos(static_cast<std::int64_t>(t)));
}

TEST(DbnValuesTest, AMappingIsHandedOutAndAppliedFromWhereItStands) {
  const auto reader = test::dbn_reader(plain_metadata() + bar_record(0x21, 5 * kDay, 1, 1) +
                                       mapping(7, "ESH1", 5 * kDay + 9) +
                                       mapping(7, "ESH1", 6 * kDay) + mapping(7, "NQH1", 8 * kDay) +
                                       mapping(8, "ESM1", 8 * kDay, 2 * kDay, 4 * kDay));
  reader->next();
  EXPECT_EQ(symbol_at(*reader, 7, 5 * kDay), "") << "nobody has said so yet";
  const auto first = std::get<SymbolMapping>(*reader->next());
  EXPECT_EQ(first.stype_in, "parent");
  EXPECT_EQ(first.in_symbol, "ES.FUT");
  EXPECT_EQ(first.stype_out, "");
  EXPECT_EQ(first.out_symbol, "ESH1");
  EXPECT_TRUE(is_null(first.start) && is_null(first.end));
  EXPECT_EQ(symbol_at(*reader, 7, 5 * kDay), "ESH1");
  EXPECT_EQ(symbol_at(*reader, 7, 400 * kDay), "ESH1");
  reader->next();
  EXPECT_EQ(reader->info().mappings.size(), 1U) << "the same again says nothing new";
  while (reader->next() != nullptr) {
  }
  EXPECT_EQ(symbol_at(*reader, 7, 8 * kDay - 1), "ESH1");
  EXPECT_EQ(symbol_at(*reader, 7, 8 * kDay), "NQH1");
  EXPECT_EQ(symbol_at(*reader, 8, 2 * kDay - 1), "");
  EXPECT_EQ(symbol_at(*reader, 8, 4 * kDay - 1), "ESM1");
  EXPECT_EQ(symbol_at(*reader, 8, 4 * kDay), "") << "the end is exclusive";
  // The list says the same as the map.
  for (std::uint64_t day = 0; day < 12; ++day) {
    for (const std::uint32_t id : {7U, 8U}) {
      const auto at = from_nanos(static_cast<std::int64_t>(day * kDay));
      EXPECT_EQ(reader->Reader::symbol_of({1, id}, at), reader->symbol_of({1, id}, at));
    }
  }
}

TEST(DbnValuesTest, AMappingInsideAnotherLeavesWhatIsBehindIt) {
  const auto reader = test::dbn_reader(plain_metadata() + mapping(7, "ESH1", 1) +
                                       mapping(7, "NQH1", 9 * kDay, 3 * kDay, 5 * kDay));
  while (reader->next() != nullptr) {
  }
  for (std::uint64_t day = 0; day < 8; ++day) {
    const char* want = day == 3 || day == 4 ? "NQH1" : "ESH1";
    EXPECT_EQ(symbol_at(*reader, 7, day * kDay), want) << day;
    EXPECT_EQ(reader->Reader::symbol_of({1, 7}, from_nanos(static_cast<std::int64_t>(day * kDay))),
              want);
  }
}

TEST(DbnValuesTest, TheLiveFileKnowsItsSymbols) {
  const auto path = test::shared_folder() / "data/dbn/databento-python/LIVE/test_data.live.dbn.zst";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "FOXHUNT_SHARED does not name the data";
  const auto reader = open_reader(path);
  std::map<std::string, int> symbols;
  while (const Record* record = reader->next()) {
    ++symbols[reader->symbol_of(instrument_of(*record), index_time(*record))];
  }
  EXPECT_EQ(symbols, (std::map<std::string, int>{{"ESZ4", 46}}));
  EXPECT_TRUE(reader->stats().skipped_by_rtype.empty());
}

TEST(DbnValuesTest, AnImbalanceHasNullsWhereTheFileSaysNone) {
  constexpr std::int64_t kUndef = std::numeric_limits<std::int64_t>::max();
  test::Bytes bytes = record_head(0x14, 112, 1);
  bytes.add(std::uint64_t{2}).add(std::int64_t{229'430'000'000}).add(std::uint64_t{0});
  bytes.add(kUndef).add(kUndef).add(kUndef).add(kUndef).add(kUndef).add(kUndef);
  bytes.add(~std::uint32_t{0}).add(2000U).add(0U).add(0U).add('O').add('B').zeros(6);
  const auto reader = test::dbn_reader(plain_metadata(12) + bytes.str());
  const auto value = std::get<Imbalance>(*reader->next());
  EXPECT_EQ(value.ts_recv, from_nanos(2));
  EXPECT_EQ(value.ref_price.nano, 229'430'000'000);
  EXPECT_TRUE(value.clearing_price.is_null() && value.indicative_price.is_null());
  EXPECT_FALSE(value.paired_qty.has_value());
  EXPECT_EQ(value.total_imbalance_qty, 2000U);
  EXPECT_EQ(value.auction_type, 'O');
  EXPECT_EQ(value.side, Side::kBid);
}

TEST(DbnValuesTest, MessagesOfAllVersionsHaveTheirTextAndACodeOnlyWhereSet) {
  const std::string old_error = record_head(0x15, 80, 3).text("bad key", 64).str();
  const std::string new_error =
      record_head(0x15, 320, 3).text("bad key", 302).add('\5').add('\1').str();
  const std::string beat = record_head(0x17, 320, 3).text("Heartbeat", 303).add('\0').str();
  const auto old = test::dbn_reader(plain_metadata(0xFFFF, 1) + old_error);
  const auto first = std::get<Message>(*old->next());
  EXPECT_TRUE(first.is_error);
  EXPECT_EQ(first.text, "bad key");
  EXPECT_FALSE(first.code.has_value());
  const auto reader = test::dbn_reader(plain_metadata() + new_error + beat);
  EXPECT_EQ(std::get<Message>(*reader->next()).code, 5);
  const auto second = std::get<Message>(*reader->next());
  EXPECT_FALSE(second.is_error);
  EXPECT_EQ(second.code, 0);
  EXPECT_EQ(second.text, "Heartbeat");
}

TEST(DbnValuesTest, EveryRecordHasATimeAnInstrumentAndAName) {
  const auto path = test::shared_folder() / "data/dbn/databento-python/LIVE/test_data.live.dbn.zst";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "FOXHUNT_SHARED does not name the data";
  const auto reader = open_reader(path);
  std::map<std::string_view, int> kinds;
  while (const Record* record = reader->next()) {
    EXPECT_FALSE(is_null(index_time(*record)));
    EXPECT_EQ(instrument_of(*record).instrument_id, 183748U);
    ++kinds[kind_of(*record)];
  }
  EXPECT_EQ(kinds, (std::map<std::string_view, int>{{"bar", 4},
                                                    {"definition", 2},
                                                    {"depth of book", 2},
                                                    {"order event", 5},
                                                    {"statistic", 9},
                                                    {"symbol mapping", 20},
                                                    {"top of book", 2},
                                                    {"trade", 2}}));
}

}  // namespace
}  // namespace foxhunt::market::dbn
