#include "foxhunt/market/dbn_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market {
namespace {

using test::error_of;
using test::record_head;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kNoTime = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kNoPrice = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kNoSize = std::numeric_limits<std::uint32_t>::max();

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string trade(std::uint64_t ts_event, std::int64_t price, std::uint32_t size, char side,
                  std::uint64_t ts_recv) {
  return record_head(0, 48, ts_event)
      .add(price)
      .add(size)
      .add('T')
      .add(side)
      .add(std::uint8_t{129})
      .add(std::uint8_t{3})
      .add(ts_recv)
      .add(std::int32_t{-5})
      .add(std::uint32_t{99})
      .str();
}

TEST(DbnRecordsTest, ATradeIsDecodedFieldByField) {
  const std::string record = trade(10, -37'630'000'000, 5, 'B', 12);
  const Trade t = decode_trade(bytes_of(record));
  EXPECT_EQ(t.instrument, (InstrumentKey{1, 7}));
  EXPECT_EQ(t.ts_event, from_nanos(10));
  EXPECT_EQ(t.ts_recv, from_nanos(12));
  EXPECT_EQ(t.price.nano, -37'630'000'000) << "negative prices are prices";
  EXPECT_EQ(t.size, 5U);
  EXPECT_EQ(t.action, 'T');
  EXPECT_EQ(t.side, Side::kBid);
  EXPECT_EQ(t.flags, 129);
  EXPECT_EQ(t.depth, 3);
  EXPECT_EQ(t.ts_in_delta, -5);
  EXPECT_EQ(t.sequence, 99U);
}

TEST(DbnRecordsTest, UndefinedValuesAreNullsAndNeverNumbers) {
  const std::string record = trade(kNoTime, kNoPrice, kNoSize, 'X', kNoTime - 1);
  const Trade t = decode_trade(bytes_of(record));
  EXPECT_TRUE(is_null(t.ts_event));
  EXPECT_TRUE(is_null(t.ts_recv)) << "a time past 2262 does not fit into int64";
  EXPECT_TRUE(t.price.is_null());
  EXPECT_TRUE(std::isnan(t.price.to_double()));
  EXPECT_EQ(t.size, 0U);
  EXPECT_EQ(t.side, Side::kNone);
}

TEST(DbnRecordsTest, AnEmptyBookSideHasNoPriceAndNoSize) {
  const std::string record = record_head(1, 80, 10)
                                 .add(std::int64_t{5})
                                 .add(std::uint32_t{1})
                                 .add('A')
                                 .add('A')
                                 .zeros(2)
                                 .add(std::uint64_t{12})
                                 .zeros(8)
                                 .add(kNoPrice)
                                 .add(std::int64_t{6})
                                 .add(kNoSize)
                                 .add(std::uint32_t{4})
                                 .add(std::uint32_t{0})
                                 .add(std::uint32_t{2})
                                 .str();
  const TopOfBook t = decode_top_of_book(bytes_of(record));
  EXPECT_EQ(t.action, 'A');
  EXPECT_EQ(t.side, Side::kAsk);
  EXPECT_TRUE(t.level.bid.is_null());
  EXPECT_EQ(t.level.bid_size, 0U);
  EXPECT_EQ(t.level.ask.nano, 6);
  EXPECT_EQ(t.level.ask_size, 4U);
  EXPECT_EQ(t.level.ask_count, 2U);
}

TEST(DbnRecordsTest, ABarIsEncodedToTheBytesItIsDecodedFrom) {
  const std::string record = test::bar_record(0x22, 3'600'000'000'000, 372'025, 57);
  const Bar bar = decode_bar(bytes_of(record), std::chrono::hours{1});
  EXPECT_EQ(bar.start, from_nanos(3'600'000'000'000));
  EXPECT_EQ(bar.end(), from_nanos(7'200'000'000'000));
  EXPECT_EQ(bar.open.nano, 372'025);
  EXPECT_EQ(bar.high.nano, 372'027);
  EXPECT_EQ(bar.low.nano, 372'024);
  EXPECT_EQ(bar.close.nano, 372'026);
  EXPECT_EQ(bar.volume, 57U);
  const auto encoded = encode_bar(bar, rtype::kOhlcv1h);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(encoded.data()), encoded.size()), record);
}

Definition es() {
  return {.instrument = {1, 5482},
          .ts_event = from_nanos(1),
          .ts_recv = from_nanos(2),
          .raw_symbol = std::string(70, 'S'),
          .asset = "0123456789",
          .exchange = "XCME",
          .currency = "USD",
          .instrument_class = 'F',
          .update_action = 'A',
          .min_price_increment = {250'000'000},
          .display_factor = {10'000'000},
          .unit_of_measure_qty = {50'000'000'000},
          .strike_price = {7},
          .expiration = parse_time("2021-03-19T13:30"),
          .activation = parse_time("2019-12-20T14:30")};
}

void expect_equal(const Definition& a, const Definition& b) {
  EXPECT_EQ(a.instrument, b.instrument);
  EXPECT_EQ(a.ts_event, b.ts_event);
  EXPECT_EQ(a.ts_recv, b.ts_recv);
  EXPECT_EQ(a.raw_symbol, b.raw_symbol);
  EXPECT_EQ(a.asset, b.asset);
  EXPECT_EQ(a.exchange, b.exchange);
  EXPECT_EQ(a.currency, b.currency);
  EXPECT_EQ(a.instrument_class, b.instrument_class);
  EXPECT_EQ(a.update_action, b.update_action);
  EXPECT_EQ(a.min_price_increment, b.min_price_increment);
  EXPECT_EQ(a.display_factor, b.display_factor);
  EXPECT_EQ(a.unit_of_measure_qty, b.unit_of_measure_qty);
  EXPECT_EQ(a.strike_price, b.strike_price);
  EXPECT_EQ(a.expiration, b.expiration);
  EXPECT_EQ(a.activation, b.activation);
}

TEST(DbnRecordsTest, ADefinitionComesBackAsItWasEncoded) {
  expect_equal(decode_definition(encode_definition(es()), 3), es());
  // Nothing but its instrument.
  const Definition empty{.instrument = {1, 2}};
  expect_equal(decode_definition(encode_definition(empty), 3), empty);
}

TEST(DbnRecordsTest, ATimeOfZeroInADefinitionIsNoTime) {
  auto bytes = encode_definition(es());
  std::fill(bytes.begin() + 40, bytes.begin() + 56, std::byte{0});
  const Definition d = decode_definition(bytes, 3);
  EXPECT_FALSE(d.expiration.has_value());
  EXPECT_FALSE(d.activation.has_value());
}

TEST(DbnRecordsTest, WhatDoesNotFitIntoARecordIsRefused) {
  Definition d = es();
  d.raw_symbol += 'S';
  EXPECT_THAT(error_of<DataError>([&] { encode_definition(d); }),
              AllOf(HasSubstr("raw_symbol"), HasSubstr("71 bytes"), HasSubstr("holds 70")));
  d = es();
  d.currency = "EURO";
  EXPECT_THAT(error_of<DataError>([&] { encode_definition(d); }), HasSubstr("currency 'EURO'"));
  EXPECT_THAT(error_of<DataError>(
                  [&] { encode_bar({.start = parse_time("1969-12-31")}, rtype::kOhlcv1m); }),
              HasSubstr("1969-12-31"));
}

TEST(DbnRecordsTest, SizesTellVersionsApart) {
  const int definition = rtype::kDefinition;
  EXPECT_EQ(dbn_version_by_size(definition, 360), 1);
  EXPECT_EQ(dbn_version_by_size(definition, 368), 1) << "with ts_out";
  EXPECT_EQ(dbn_version_by_size(definition, 400), 2);
  EXPECT_EQ(dbn_version_by_size(definition, 520), 3);
  EXPECT_EQ(dbn_version_by_size(rtype::kStatistics, 64), 2) << "versions 1 and 2 share it";
  EXPECT_EQ(dbn_version_by_size(rtype::kStatistics, 80), 3);
  EXPECT_EQ(dbn_version_by_size(rtype::kSymbolMapping, 80), 1);
  EXPECT_EQ(dbn_version_by_size(rtype::kSymbolMapping, 176), 3);
  EXPECT_EQ(dbn_version_by_size(rtype::kTrades, 48), 0) << "the same in all versions";
  EXPECT_EQ(dbn_version_by_size(0x77, 48), 0);

  EXPECT_EQ(dbn_layout_version(*find_dbn_record_kind(0x13), 360, 3), 1);
  EXPECT_EQ(dbn_layout_version(*find_dbn_record_kind(0x13), 400, 1), 2);
  EXPECT_EQ(dbn_layout_version(*find_dbn_record_kind(0x13), 528, 3), 3)
      << "a field appended by a newer writer";
  EXPECT_EQ(dbn_layout_version(*find_dbn_record_kind(0x13), 456, 3), 3)
      << "too short: not an old one";

  EXPECT_TRUE(is_plausible_dbn_record(rtype::kOhlcv1m, 56));
  EXPECT_TRUE(is_plausible_dbn_record(rtype::kOhlcv1m, 64));
  EXPECT_FALSE(is_plausible_dbn_record(rtype::kOhlcv1m, 60));
  EXPECT_FALSE(is_plausible_dbn_record(0x77, 56));
}

TEST(DbnRecordsTest, BarsKnowTheirSpanByTypeAndSchema) {
  using namespace std::chrono_literals;
  EXPECT_EQ(dbn_bar_span(0x20), 1s);
  EXPECT_EQ(dbn_bar_span(0x21), 1min);
  EXPECT_EQ(dbn_bar_span(0x22), 1h);
  EXPECT_EQ(dbn_bar_span(0x23), 24h);
  EXPECT_EQ(dbn_bar_span(0x24), 24h);
  EXPECT_EQ(dbn_bar_span(0x11), std::nullopt);
  EXPECT_EQ(dbn_bar_span(0), std::nullopt);
  EXPECT_EQ(dbn_bar_rtype("ohlcv-1h"), 0x22);
  EXPECT_EQ(dbn_bar_rtype("ohlcv"), std::nullopt);
  EXPECT_EQ(dbn_bar_rtype("trades"), std::nullopt);
}

}  // namespace
}  // namespace foxhunt::market
